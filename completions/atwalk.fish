# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for atwalk(1), atwalk-kmap(1), atwalk-collect(8) and ptexplore(1). The programs
# have the tables of their options, and print what fits.

function __atwalk_complete
    set -l typed (string replace -r '^~/' "$HOME/" -- (commandline -opc))
    set -l current (commandline -ct)
    # Without quotes, one that is still open as well.
    set -l word (string unescape -- "$current")
    for line in ($typed[1] __complete $typed[2..] "$word" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path $current
        else
            echo $line
        end
    end
end

complete -c atwalk -f -a '(__atwalk_complete)'
complete -c atwalk-kmap -f -a '(__atwalk_complete)'
complete -c atwalk-collect -f -a '(__atwalk_complete)'
complete -c ptexplore -f -a '(__atwalk_complete)'
