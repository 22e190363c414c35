/**
 * What each shell sources. The scripts pass the words up to the cursor to `phx-sim completion SHELL -- WORDS`, whose
 * first line says what else fits (nothing, files, folders, a command of its own); the others are a word and a note.
 */
export const completionScripts = {
  bash: `# phx-sim completion for bash: eval "$(phx-sim completion bash)"
_phx_sim() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}" kind= word note
  COMPREPLY=()
  [[ $cur == [=:] ]] && cur=
  while IFS=$'\\t' read -r word note; do
    if [[ -z $kind ]]; then kind=$word; else COMPREPLY+=("$word"); fi
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case $kind in
    files) COMPREPLY+=($(compgen -f -- "$cur")) ;;
    folders) COMPREPLY+=($(compgen -d -- "$cur")) ;;
    command) COMPREPLY+=($(compgen -c -- "$cur") $(compgen -f -- "$cur")) ;;
    *) return ;;
  esac
  type compopt &>/dev/null && compopt -o filenames
}
complete -F _phx_sim phx-sim`,

  zsh: `#compdef phx-sim
# phx-sim completion for zsh: eval "$(phx-sim completion zsh)", after compinit
_phx_sim() {
  local -a lines values
  local kind line
  lines=("\${(@f)$(\${~words[1]} completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  kind=$lines[1]
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#values )) && _describe -V phx-sim values
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
    command)
      local -i at=\${words[(i)--]}
      shift $at words
      (( CURRENT -= at ))
      _normal
      ;;
  esac
}
if [[ $funcstack[1] == _phx_sim ]]; then _phx_sim "$@"; else compdef _phx_sim phx-sim; fi`,

  fish: `# phx-sim completion for fish: phx-sim completion fish | source
function __phx_sim_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -q current[1]; or set current ""
  set -l lines ($before[1] completion fish -- $before[2..-1] $current 2>/dev/null)
  switch "$lines[1]"
    case files
      __fish_complete_path $current
    case folders
      __fish_complete_directories $current
    case command
      __fish_complete_subcommand --fcs-skip=(contains -i -- -- $before)
  end
  set -q lines[2]; and printf '%s\\n' $lines[2..-1]
end
complete -c phx-sim -f -a '(__phx_sim_complete)'`,
} as const;
