/** A workflow file for tests, over the tools of test/e2e/tools.ts. */
export const workflows = `
workflows:
  greet:
    name: Greeting
    params: {times: 1}
    steps:
      - name: make
        tool: echo
        arguments: {greeting: "Hello \${who}", list: [{n: "\${times}"}]}
      - name: say
        type: agentcli.echo
        input:
          said: "\${make.greeting}"
          n: "\${make.list[0].n}"
          all: "\${make}"
          text: "n is \${times}, list is \${make.list}"
          plain: "$\${not}"
      - tool: echo
        arguments: {default: "yes"}
    output: {said: "\${say.said}", times: "\${say.n}"}
  again: {steps: [{tool: workflow_run, arguments: {workflow: again}}]}
  circle:
    steps:
      - {name: a, tool: echo, needs: [b]}
      - {name: b, tool: echo, arguments: {x: "\${a}"}}
  stranger: {steps: [{tool: echo}, {tool: nobody}]}
  switched_off: {steps: [{tool: 'off'}]}
  misspelt: {steps: [{tool: echo, argumets: {}}]}
  many:
    steps: [${Array.from({ length: 101 }, () => '{tool: echo}').join(', ')}]
  breaks:
    steps:
      - {name: broken, tool: fail, arguments: {stderr: it broke}}
      - {name: later, tool: echo, depends_on: [broken]}
  bad_arguments:
    steps:
      - {name: first, tool: echo, arguments: {a: 1}}
      - {name: strict, tool: echo_strict, arguments: {word: "\${first.a}"}}
  idle_nulls: {steps: [{tool: echo_strict, arguments: {word: hello, times: null}}]}
  idle_nulls_and_fault: {steps: [{name: strict, tool: echo_strict, arguments: {word: 5, times: null}}]}
  by_type: {steps: [{type: agentcli.nothing}]}
  no_field:
    steps:
      - {name: first, tool: echo, arguments: {a: 1}}
      - {name: second, tool: echo, arguments: {x: "\${first.nothing}"}}
  naps:
    steps:
      - {tool: nap, arguments: {ms: 60000}}
      - {tool: nap, arguments: {ms: 60000}}
  elsewhere: {steps: [{tool: echo}, {tool: echo, queue: else}]}
  long:
    steps:
      - {name: big, tool: big, arguments: {char: y, count: 20000}}
      - {name: write, tool: data_write_file, arguments: {path: long.txt, content: "\${big}", create_if_missing: true}}
    output: "\${write.bytes_after}"
  cut:
    steps:
      - {name: big, tool: big, arguments: {char: ü, count: 600000}}
      - {name: write, tool: data_write_file, arguments: {path: cut.txt, content: "\${big}", create_if_missing: true}}
  digits:
    params: {id: 12345678901234567890, list: [9007199254740993]}
    steps:
      - name: made
        tool: keep
        arguments: {id: 725653563933458433, of_param: "\${id}", in: [{id: -12345678901234567891, hex: 0xFFFFFFFFFFFFFFFF}]}
      - {name: copy, tool: keep, arguments: {all: "\${made}", text: "\${made.in[0].id}", list: "\${list}", own: [1, 12345678901234567893]}}
    output: {id: 12345678901234567894, copy: "\${copy.all.id}"}
  bare_digits: {steps: [{tool: echo}], output: 12345678901234567890}
  no_map: {steps: [{tool: echo, arguments: 12345678901234567890}]}
  cut_at_the_end: {steps: [{name: big, tool: big, arguments: {char: ü, count: 600000}}]}
`
