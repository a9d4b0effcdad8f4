import t from 'tap'
import type { InvokeBatchResponse } from '@toolyard/contract'
import { injectService } from '../support/injected.ts'

t.setTimeout(120_000)

const base64 = (hex: string, bytes = 0): string => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(bytes, 7)]).toString('base64')
/** As many bytes, and pixels of a side in hexadecimal: as the header says. */
const png = (bytes: number, side = '00000040'): string => base64(`89504e470d0a1a0a0000000d4948445200000040${side}49454e44`, bytes - 28)
const jpeg = base64('ffd8ffe00004ffffffffffe10005ffc000ffc0000b0800200040010100ffd9')
const image = (data: string, mimeType = 'image/png'): object => ({ type: 'image', mimeType, data })
const page = { type: 'text', text: 'A page.' }
/** An image of each form with a side of so many pixels, the other one has 16. */
function sides (pixels: number): object[] {
  const big = pixels.toString(16).padStart(4, '0')
  const little = (value: number, bytes: number): string => Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex').reverse().toString('hex')
  const webp = (form: string, rest: string): string => base64(`524946460000000057454250${Buffer.from(form).toString('hex')}00000000${rest}`)
  return [
    png(60, `0000${big}`),
    base64(`ffd8ffc2000b08${big}0010010100ffd9`),
    base64(`474946383961${little(pixels, 2)}10003b`),
    webp('VP8 ', `0000009d012a${little(pixels, 2)}1000`),
    webp('VP8X', `00000000${little(pixels - 1, 3)}0f0000`),
    webp('VP8L', `2f${little(pixels - 1 + (15 << 14), 4)}`)
  ].map(data => image(data))
}
const tiny = png(60)
const large = png(300_000)
const outputs = {
  tiny: { content: [page, image(tiny)] },
  large: { content: [page, image(large)] },
  many: { content: Array.from({ length: 10 }, (_, index) => image(png(60 + index))) },
  mistaken: { content: [image(jpeg)] },
  odd: { content: [image('bm8gaW1hZ2U='), image('not base64!'), image(''), image('data:image/png;base64,AAAA'), { type: 'image' }, null] },
  huge: { content: [image(png(1_048_580))] },
  several: { content: [1, 2, 3].map(() => image(png(600_000))) },
  long: { content: [image(tiny), { type: 'text', text: 'x'.repeat(20_000) }] },
  read: { content: [image(large), image('left'), page, { type: 'text', text: Array.from({ length: 3_000 }, (_, line) => `line ${line}`).join(' ') }] },
  edge: { content: [{ type: 'text', text: 'x'.repeat(11_907) }, image(large)] },
  tall: { content: [image(png(60, '00001f41')), page] },
  // At the bound, and beyond it; no pixels, and a header that ends.
  sides: { content: [...sides(8_000), ...sides(8_001)] },
  none: { content: [image(png(60, '00000000')), image(base64('89504e470d0a1a0a0000000d')), image(base64('ffd8ffe00004ffff')), image(base64('474946383961'))] },
  // Cut: without the end, after a preview with an end of its own, shorter than it says.
  ends: {
    content: [
      base64('89504e470d0a1a0a0000000d494844520000004000000040', 40), base64('474946383961400040000000'),
      base64('ffd8ffe10004ffd9ffc0000b0800200040010100ffda0002', 40), base64('524946460001000057454250565038580000000000000000100000100000')
    ].map(data => image(data))
  },
  parts: { content: Array.from({ length: 40_000 }, () => ({})) },
  structure: { pages: 1, content: [image(tiny)] },
  other: { content: 'text', image: image(tiny) }
}
const service = await injectService(t, {
  files: {
    'tools/bin/give': '#!/bin/sh\nread -r _\nexec cat "$(dirname "$0")/$1.json"\n',
    ...Object.fromEntries(Object.entries(outputs).map(([name, output]) => [`tools/bin/${name}.json`, JSON.stringify(output)]))
  },
  tools: Object.keys(outputs).map(name => ({ name, command: ['./tools/bin/give', name], permissions: [], limits: { outputBytes: 4_000_000 } })),
  env: { MAX_OUTPUT_BYTES: '4000000' }
})

interface Told { text: string, images: string[] }

/** What a model is told of calls, in Anthropic's messages; images as `type:data`. */
async function tell (names: string[], query = ''): Promise<{ told: Told[], answer: InvokeBatchResponse }> {
  const content = names.map((name, index) => ({ type: 'tool_use', id: `c${index}`, name, input: {} }))
  const { body: answer } = await service.client.request<InvokeBatchResponse>(`/v1/agent-tools/invoke-batch${query}`, { body: { content, wait_ms: 60_000 } })
  interface Block { type: string, text: string, source: { media_type: string, data: string } }
  const [message] = answer.messages as unknown as [{ content: Array<{ content: string | Block[] }> }]
  const told = message.content.map(({ content: said }) => typeof said === 'string'
    ? { text: said, images: [] }
    : { text: said[0]?.text ?? '', images: said.slice(1).map(({ source }) => `${source.media_type}:${source.data}`) })
  return { told, answer }
}

t.test('an image among the blocks of an output is an image in the messages of the providers that take one', async t => {
  const { told, answer } = await tell(['tiny', 'large'])
  t.same(told.map(({ images }) => images), [[`image/png:${tiny}`], [`image/png:${large}`]])
  t.same(told.map(({ text }) => JSON.parse(text) as unknown), [60, 300_000].map(bytes => ({
    ok: true, result: { content: [page, image(`shown as an image: ${bytes} bytes`)] }
  })), 'in the text are its type and size')
  const [small, cut] = answer.results
  t.same(small?.output, outputs.tiny, 'a program gets the output as it is')
  t.match(cut?.output, { truncated: true, preview: /^\{"content":/ })
  const responses = { output: [{ type: 'function_call', call_id: 'c', name: 'large', arguments: '{}' }], wait_ms: 60_000 }
  const { body } = await service.client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: responses })
  t.match(body.messages, [{ output: [{ type: 'input_text' }, { type: 'input_image', image_url: `data:image/png;base64,${large}` }] }])
})

t.test('an image has the type of its bytes, since a provider refuses a request whose image is something else', async t => {
  const { told } = await tell(['mistaken'])
  t.same(told[0]?.images, [`image/jpeg:${jpeg}`])
})

t.test('what is no image that all models take stays in the text', async t => {
  const { told } = await tell(['odd', 'structure', 'other', 'parts'])
  t.same(told.map(({ images }) => images.length), [0, 0, 0, 0])
})

t.test('a call shows eight images and none of more than a megabyte', async t => {
  const { told: [many, huge] } = await tell(['many', 'huge'])
  t.equal(many?.images.length, 8)
  t.match(many?.text, /shown as an image: 67 bytes.*left out: 68 bytes/)
  t.same(huge?.images, [])
})

t.test('an image with more pixels than a provider takes is left out: it would refuse the conversation from then on', async t => {
  const { told: [tall, sides, none] } = await tell(['tall', 'sides', 'none'])
  t.same(tall?.images, [])
  t.same(JSON.parse(tall?.text ?? ''), { ok: true, result: { content: [image('left out: 60 bytes, 64 x 8001 pixels'), page] } })
  t.same(sides?.images.map(shown => shown.split(':')[0]), ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/webp', 'image/webp'])
  t.match(sides?.text, /"left out: \d+ bytes, 16 x 8001 pixels".*"left out: \d+ bytes, 8001 x 16 pixels"/)
  t.same(none?.images, [])
})

t.test('an image that is cut is left out: providers say that they cannot process it', async t => {
  const { told: [ends] } = await tell(['ends'])
  t.same(ends?.images, [])
  t.equal(ends?.text.match(/left out: \d+ bytes/g)?.length, 4)
})

t.test('an output with images has 2 MiB at most, and those of a batch 6 MiB', async t => {
  t.same((await tell(['several'])).told[0]?.images, [])
  const { told } = await tell(Array.from({ length: 20 }, () => 'large'))
  const shown = told.filter(({ images }) => images.length === 1).length
  t.equal(shown, Math.floor(6_291_456 / JSON.stringify(outputs.large).length))
})

t.test('a text beside an image is cut as without it', async t => {
  for (const [query, chars] of [['', 12_000], ['?max_output_chars=2000', 1_500]] as const) {
    const { told: [long] } = await tell(['long'], query)
    t.same(long?.images, [`image/png:${tiny}`])
    const { result } = JSON.parse(long?.text ?? '') as { result: { preview: string } }
    t.equal(result.preview.length, chars)
    t.notOk(result.preview.includes(tiny))
  }
})

t.test('a model that reads on goes on behind what it was shown, whatever stands in front of that', async t => {
  const readOn = async (name: string, query: string): Promise<{ preview: string, text: string }> => {
    const { told: [read] } = await tell([name], query)
    const { result: { preview }, message } = JSON.parse(read?.text ?? '') as { result: { preview: string }, message: string }
    const [, id, offset] = /"job_id": "(.*?)", "offset": (\d+)/.exec(message) ?? []
    const { output } = await service.client.call('output_read', { job_id: id, offset: Number(offset), limit: 50 })
    return { preview, text: (output as { text: string }).text }
  }
  for (const query of ['', '?max_output_chars=2000']) {
    const { preview, text } = await readOn('read', query)
    t.ok(JSON.stringify(outputs.read).includes(`${preview.slice(preview.indexOf('line 0'))}${text}`), text)
  }
  const { preview, text } = await readOn('edge', '')
  t.match(preview, /"data":"shown as$/)
  t.ok(text.startsWith(`"${large.slice(0, 40)}`), text)
})
