// This file words the commands that a person is told to type next, so that they work where they are pasted: the program
// as it was called, and each path as one word of a shell.
package place

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
)

// CalledAs is the program's name, or the path where it was called by one: a shell may not find it by its name.
func CalledAs() string {
	if len(os.Args) > 0 && strings.ContainsRune(os.Args[0], filepath.Separator) {
		return ShellWord(os.Args[0])
	}
	return "wayleave"
}

// FromAnywhere is CalledAs for a text that is read elsewhere than where the program was started.
func FromAnywhere() string {
	if len(os.Args) > 0 && strings.ContainsRune(os.Args[0], filepath.Separator) {
		return ShellWord(Absolute(os.Args[0]))
	}
	return "wayleave"
}

// PermitCommand lets a private host pass in the folder: what a refusal names for the person who reads it.
func (d DataFlags) PermitCommand(s *cli.Session) string {
	command := FromAnywhere() + " allow"
	if system, err := datafolder.Default(runtime.GOOS, s.Getenv); d.Data == "" || err == nil && Absolute(d.Data) == filepath.Clean(system) {
		return command
	}
	return command + d.Again()
}

// Again is the flag that leads the next command to the same folder, with a space before it; empty for the system's.
func (d DataFlags) Again() string {
	if d.Data == "" {
		return ""
	}
	return " --data " + ShellWord(Absolute(d.Data))
}

// Absolute is a path that holds in every folder, or the path as it is where the system cannot say.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// ShellWord is a text as one word of a command line.
func ShellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == filepath.Separator || strings.ContainsRune("/._-:=@%+,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
