// This file is `wayleave version`.
package main

import (
	"runtime"
	"runtime/debug"

	"github.com/wayleave/wayleave/internal/cli"
)

type versionCommand struct {
	JSON bool `setting:"-" help:"As JSON."`
}

// version is set by the linker where a release is built; empty otherwise.
var version string

// thisBuild reads what the Go command left in the binary.
func thisBuild() cli.Build {
	b := cli.Build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok && b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Run prints the version.
func (c *versionCommand) Run(s *cli.Session) error {
	b := s.Build
	if c.JSON {
		return s.Out.JSON(b)
	}
	s.Out.Printf("wayleave %s (%s, %s)\n", b.Version, b.Platform, b.Go)
	return nil
}
