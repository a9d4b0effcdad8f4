import { stemOf } from './stem.ts'

/** Words that people and APIs use for the same: each line is one concept. A word may stand for several. */
const lines = [
  'create add new make insert post open start file write build register save leave set',
  'add append put attach insert assign',
  'delete remove destroy erase drop clear discard kick unassign revoke detach stop',
  'get read fetch retrieve show view see download display details info',
  'list all which what who any find search browse index history latest recent enumerate',
  'update edit change modify patch set put rename reschedule move adjust alter resize close mark',
  'search find look query lookup filter',
  'send post deliver submit write notify',
  'cancel stop abort end terminate revoke',
  'start run launch begin trigger execute resume play',
  'restart retry rerun again repeat redo',
  'move transfer transition',
  'lock prevent forbid freeze block disable',
  'unlock allow permit enable',
  'share invite permission access acl collaboration collaborator grant see',
  'email mail message inbox gmail mailbox',
  'message chat post text',
  'issue ticket bug report',
  'task todo issue item',
  'finish complete done close tick resolve',
  'user person people someone somebody member colleague who account anyone everyone',
  'profile account me myself identity authenticated logged whoami',
  'my current own',
  'member participant attendee people',
  'song track music',
  'video clip movie',
  'picture image photo avatar thumbnail',
  'file document doc attachment',
  'folder directory',
  'repository repo project codebase',
  'snippet gist paste',
  'channel conversation room',
  'thread reply conversation',
  'link url permalink address',
  'open go navigate visit',
  'cell value range row column',
  'spreadsheet sheet table',
  'event meeting appointment calendar',
  'time schedule date later tomorrow',
  'free busy available availability',
  'version revision history earlier previous',
  'storage quota space usage',
  'payment charge pay transaction',
  'refund return reimburse',
  'subscription subscribe subscriber plan',
  'invoice bill billing balance owe',
  'customer client buyer',
  'price cost amount',
  'label tag category',
  'comment note remark annotate',
  'review approve approval feedback',
  'reaction react emoji like',
  'star favorite favourite bookmark like',
  'follow watch subscribe',
  'watch monitor observe',
  'status state presence online',
  'workflow pipeline build job',
  'deploy deployment release publish',
  'server machine instance droplet vm',
  'database db sql',
  'mongo mongodb',
  'field schema attribute column property',
  'slow explain plan performance statistics',
  'key secret credential token password',
  'log trace output',
  'copy duplicate clone fork',
  'merge combine join',
  'weather forecast climate',
  'translate translation language',
  'subtitle caption transcript',
  'hour worklog log work timesheet',
  'position seek jump skip',
  'next upcoming queue',
  'schedule delay later plan',
  'ephemeral private only hidden temporary'
]

const known = new Map<string, string[]>()
for (const [at, line] of lines.entries()) {
  for (const word of line.split(' ')) {
    const stem = stemOf(word)
    const own = known.get(stem) ?? []
    if (!own.includes(`=${at}`)) known.set(stem, [...own, `=${at}`])
  }
}

/** The concepts of a stem; words of texts never begin as they do. */
export function conceptsOf (stem: string): readonly string[] {
  return known.get(stem) ?? []
}
