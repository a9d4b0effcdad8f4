#!/usr/bin/env node
// get_time: the current time in an IANA time zone. Arguments: {"timezone"}, or {"tz"}, its older name.
import { answer } from './lib/call.mjs'

await answer(({ timezone, tz }) => timeIn(timezone ?? tz, new Date()))

function timeIn (timezone, now) {
  const part = partsIn(timezone, now)
  const offset = part.timeZoneName.slice('GMT'.length) || '+00:00'
  const date = `${part.year}-${part.month}-${part.day}`
  const time = `${part.hour}:${part.minute}:${part.second}`
  return {
    timezone,
    datetime: `${date}T${time}${offset}`,
    date,
    time,
    weekday: part.weekday,
    utc_offset: offset,
    unix: Math.floor(now.getTime() / 1000)
  }
}

function partsIn (timezone, now) {
  if (typeof timezone !== 'string' || timezone === '') throw new Error('timezone is required, such as Europe/Helsinki')
  return Object.fromEntries(formatFor(timezone).formatToParts(now).map(({ type, value }) => [type, value]))
}

function formatFor (timeZone) {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset'
    })
  } catch {
    throw new Error(`unknown time zone: ${timeZone} (an IANA name is expected, such as Europe/Helsinki)`)
  }
}
