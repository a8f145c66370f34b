// This file words the commands that a person is told to type next, so that they work where they are pasted: the program
// as it was called, and each path as one word of a shell.
package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/wayleave/wayleave/internal/datafolder"
)

// calledAs is the program's name, or the path where it was called by one: a shell may not find it by its name.
func calledAs() string {
	if len(os.Args) > 0 && strings.ContainsRune(os.Args[0], filepath.Separator) {
		return shellWord(os.Args[0])
	}
	return "wayleave"
}

// fromAnywhere is calledAs for a text that is read elsewhere than where the program was started.
func fromAnywhere() string {
	if len(os.Args) > 0 && strings.ContainsRune(os.Args[0], filepath.Separator) {
		return shellWord(absolute(os.Args[0]))
	}
	return "wayleave"
}

// permitCommand lets a private host pass in the folder: what a refusal names for the person who reads it.
func (d dataFlags) permitCommand(s *session) string {
	command := fromAnywhere() + " allow"
	if system, err := datafolder.Default(runtime.GOOS, s.getenv); d.Data == "" || err == nil && absolute(d.Data) == filepath.Clean(system) {
		return command
	}
	return command + d.again()
}

// again is the flag that leads the next command to the same folder, with a space before it; empty for the system's.
func (d dataFlags) again() string {
	if d.Data == "" {
		return ""
	}
	return " --data " + shellWord(absolute(d.Data))
}

// attachLine is the command that attaches a client to this server: what came from flags is said again, since variables
// and the per-user folder are found without.
func (c *serveCommand) attachLine(s *session, endpoint string) string {
	line, url := calledAs()+" attach claude", ""
	for _, set := range s.settings.all {
		if !strings.HasPrefix(set.Origin, "flag ") {
			continue
		}
		switch set.Name {
		case "config", "data":
			line += " --" + set.Name + " " + shellWord(absolute(set.Value))
		case "listen", "public-url", "tls-cert":
			url = " --url " + shellWord(endpoint)
		}
	}
	return line + url
}

// absolute is a path that holds in every folder, or the path as it is where the system cannot say.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// shellWord is a text as one word of a command line.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == filepath.Separator || strings.ContainsRune("/._-:=@%+,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
