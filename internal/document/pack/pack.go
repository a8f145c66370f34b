// Package pack opens the containers that documents come in, ZIP archives of XML parts, so that no archive can cost more
// than its limits: what a part unpacks to is counted while it is unpacked, whatever its header says.
package pack

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
)

const (
	// maxParts is how many parts an archive may have. A book with a thousand sheets and their relations has some 2,000.
	maxParts = 20_000
)

// Archive is an open container. It is not safe for concurrent use.
type Archive struct {
	parts map[string]*zip.File // by name in lower case, without a leading slash
	names []string             // as they stand, in the archive's order
	left  int64                // bytes that may still be unpacked
}

// Open reads the directory of a container. Reasons: Damaged, TooLarge (too many parts), Encrypted (parts under a ZIP
// password).
func Open(body []byte, limits document.Limits) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, document.Fail(document.Damaged, "archive: %v", err)
	}
	if len(z.File) > maxParts {
		return nil, document.Fail(document.TooLarge, "%d parts", len(z.File))
	}
	a := &Archive{parts: make(map[string]*zip.File, len(z.File)), left: limits.WithDefaults().Unpacked}
	for _, f := range z.File {
		name := key(f.Name)
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		// Of two parts of one name the first counts: what others make of them must not depend on who reads.
		if _, twice := a.parts[name]; twice {
			continue
		}
		if f.Flags&1 != 0 {
			return nil, document.Fail(document.Encrypted, "part %q", f.Name)
		}
		a.parts[name] = f
		a.names = append(a.names, strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
	}
	return a, nil
}

func key(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

// Names gives the names of all parts in the archive's order.
func (a *Archive) Names() []string { return a.names }

// Has tells whether there is a part. Names are compared without regard to case, as Office does.
func (a *Archive) Has(name string) bool {
	_, ok := a.parts[key(name)]
	return ok
}

// Read unpacks a part. A part that is not there is an error that is fs.ErrNotExist. Reasons: Damaged, TooLarge,
// Unsupported (a method of packing that is not read).
func (a *Archive) Read(name string) ([]byte, error) {
	f, ok := a.parts[key(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			return nil, document.Fail(document.Unsupported, "part %q is packed by method %d", name, f.Method)
		}
		return nil, document.Fail(document.Damaged, "part %q: %v", name, err)
	}
	defer r.Close()
	// The header's size is a hint that may lie in both directions: it only bounds what is set aside at first.
	var out bytes.Buffer
	out.Grow(int(min(f.UncompressedSize64, 1<<20)))
	n, err := io.Copy(&out, io.LimitReader(r, a.left+1))
	if n > a.left {
		a.left = 0
		return nil, document.Fail(document.TooLarge, "part %q", name)
	}
	a.left -= n
	if err != nil {
		return nil, document.Fail(document.Damaged, "part %q: %v", name, err)
	}
	return out.Bytes(), nil
}

// Optional is Read for a part that need not be there: then it gives nil.
func (a *Archive) Optional(name string) ([]byte, error) {
	data, err := a.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
