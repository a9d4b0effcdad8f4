/** For each shell; the words themselves come from `toolyard complete`. */
export const scripts = {
  bash: `# toolyard completion bash >> ~/.bashrc
_toolyard () {
  local IFS=$'\\n'
  COMPREPLY=($(toolyard complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _toolyard toolyard`,
  zsh: `# toolyard completion zsh >> ~/.zshrc, behind compinit
_toolyard () {
  local -a found
  found=("\${(@f)$(toolyard complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
compdef _toolyard toolyard`,
  fish: `# toolyard completion fish > ~/.config/fish/completions/toolyard.fish
complete -c toolyard -a '(toolyard complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`
} as const
