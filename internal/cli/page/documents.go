package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/document/child"
	"github.com/wayleave/wayleave/internal/document/reader"
	"github.com/wayleave/wayleave/internal/document/served"
	"github.com/wayleave/wayleave/webfetch"
)

// Documents makes what reads documents in children of this program, so many of a kind at once; nil where this program cannot be
// started again. Nothing is started before the first document, or Warm.
func Documents(s *cli.Session, atOnce int, log *slog.Logger) (*child.Pools, error) {
	if s.Self.Path == "" {
		return nil, nil
	}
	dir, err := EngineFolder()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		dir = "" // each child compiles for itself
	}
	o := child.Options{Program: s.Self.Path, Args: []string{s.Self.Name, child.Argument}, CacheDir: dir, Size: atOnce, Log: log}
	pools := &child.Pools{Needs: reader.NeedsEngine}
	if pools.Plain, err = child.New(o); err == nil {
		o.Engine = true
		pools.Engine, err = child.New(o)
	}
	return pools, err
}

// EngineFolder is where the compiled engine for PDF files is kept: code that children run, so a folder that others may
// write to is none. It need not be there.
func EngineFolder() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "wayleave", "pdfium")
	const othersMayWrite = 0o022
	if at, err := os.Stat(dir); err == nil && runtime.GOOS != "windows" && at.Mode().Perm()&othersMayWrite != 0 {
		return "", &os.PathError{Op: "use", Path: dir, Err: os.ErrPermission}
	}
	return dir, nil
}

// EngineKept says that the compiled engine of this program is there, so that a child with it is ready in a tenth of a second.
func EngineKept() bool {
	mark := engineMark()
	if mark == "" {
		return false
	}
	_, err := os.Stat(mark)
	return err == nil
}

// NoteEngine notes that a child of this program has started its engine, and so has kept it.
func NoteEngine() {
	if mark := engineMark(); mark != "" {
		_ = os.WriteFile(mark, nil, 0o600) // without it the engine is started ahead once more
	}
}

// engineMark is the file that says so: of these versions of the engine and of what compiles it, for this system.
func engineMark() string {
	dir, err := EngineFolder()
	build, ok := debug.ReadBuildInfo()
	if err != nil || !ok {
		return ""
	}
	text := runtime.GOOS + " " + runtime.GOARCH
	for _, m := range build.Deps {
		if m.Path == "github.com/klippa-app/go-pdfium" || m.Path == "github.com/tetratelabs/wazero" {
			text += " " + m.Path + " " + m.Version
		}
	}
	sum := sha256.Sum256([]byte(text))
	return filepath.Join(dir, "kept-"+hex.EncodeToString(sum[:8]))
}

// readDocuments lets one command read documents; done ends what it started.
func readDocuments(s *cli.Session, o *webfetch.Options) (done func(), err error) {
	pools, err := Documents(s, 1, nil)
	if pools == nil || err != nil {
		return func() {}, err
	}
	o.Documents = served.Documents{Reader: pools}
	return func() {
		// A first start of the engine that the command did not wait for ends well all the same, for the next command.
		most := time.Second
		if pools.Engine.Starting() {
			most = time.Minute
		}
		ctx, cancel := context.WithTimeout(s.Ctx, most)
		defer cancel()
		pools.Close(ctx)
	}, nil
}
