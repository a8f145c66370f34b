package numbers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/snappy"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
)

// object is an object of the file.
type object struct {
	kind uint64
	message
}

// Kinds of objects, of those that are read.
const (
	kindDocument  = 1
	kindSheet     = 2
	kindFormSheet = 3
	kindCaption   = 633
	kindText      = 2001
	kindTextLast  = 2010 // texts have several kinds by where they stand
	kindShape     = 2011
	kindGroup     = 3008
	kindTable     = 6000
	kindModel     = 6001
	kindTile      = 6002
	kindList      = 6005
	kindHeaders   = 6006
	kindSegment   = 6011
	kindMerges    = 6144
	kindRichText  = 6218
)

func wanted(kind uint64) bool {
	switch kind {
	case kindDocument, kindSheet, kindFormSheet, kindCaption, kindShape, kindGroup, kindTable, kindModel, kindTile, kindList, kindHeaders, kindSegment, kindMerges, kindRichText:
		return true
	}
	return kind >= kindText && kind <= kindTextLast
}

// maxObjects is how many objects of a file are looked at. A large one has some ten thousand.
const maxObjects = 1_000_000

// file is an open document.
type file struct {
	limits  document.Limits
	left    int64 // bytes that may yet be unpacked of what the archive's parts hold
	seen    int
	objects map[uint64]object
	root    uint64 // the document
	steps   int    // that may yet be taken over rows, cells, entries and texts: objects refer to each other freely
}

// maxSteps is far more than the largest table has cells. A step looks at some stepBytes of an object.
const (
	maxSteps  = 2_000_000
	stepBytes = 32
)

// spend counts steps; false once there were too many.
func (f *file) spend(n int) bool {
	f.steps -= n
	return f.steps >= 0
}

// open reads all objects of a document. Reasons: Damaged, TooLarge, Encrypted, Unsupported.
func open(body []byte, limits document.Limits) (*file, error) {
	f := &file{limits: limits, left: limits.Unpacked, objects: map[uint64]object{}, steps: maxSteps}
	archive, err := pack.Open(body, limits)
	if err != nil {
		return nil, err
	}
	parts, err := f.parts(archive)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		inner := nested(archive)
		if inner == "" {
			return nil, missing(archive)
		}
		// Earlier versions keep the parts in an archive of their own.
		data, err := archive.Read(inner)
		if err != nil {
			return nil, err
		}
		if archive, err = pack.Open(data, limits); err != nil {
			return nil, err
		}
		if parts, err = f.parts(archive); err != nil {
			return nil, err
		}
	}
	for _, name := range parts {
		data, err := archive.Read(name)
		if err != nil {
			return nil, err
		}
		if err := f.read(name, data); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// parts are the names of the parts that hold objects.
func (f *file) parts(a *pack.Archive) ([]string, error) {
	var parts []string
	for _, name := range a.Names() {
		base := path.Base(name)
		if base == ".iwph" || base == ".iwpv2" {
			return nil, document.Fail(document.Encrypted, "part %q", name)
		}
		if strings.HasSuffix(name, ".iwa") && !unneeded(base) {
			parts = append(parts, name)
		}
	}
	return parts, nil
}

// unneeded are parts without anything that is shown as text.
func unneeded(base string) bool {
	for _, name := range []string{"Metadata", "DocumentMetadata", "AnnotationAuthorStorage", "OperationStorage", "ViewState"} {
		if strings.HasPrefix(base, name) {
			return true // what is next to it has a number, as in "ViewState-12.iwa"
		}
	}
	return false
}

func nested(a *pack.Archive) string {
	i := slices.IndexFunc(a.Names(), func(name string) bool { return path.Base(name) == "Index.zip" })
	if i < 0 {
		return ""
	}
	return a.Names()[i]
}

// missing says what an archive without objects is.
func missing(a *pack.Archive) error {
	for _, name := range a.Names() {
		if base := path.Base(name); base == "index.xml" || base == "index.xml.gz" {
			return document.Fail(document.Unsupported, "Numbers '09 or before")
		}
	}
	return document.Fail(document.Damaged, "no parts with objects")
}

// read takes in the objects of a part.
func (f *file) read(part string, packed []byte) error {
	data, err := f.unpack(part, packed)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return document.Fail(document.Damaged, "part %q: the head of an object", part)
		}
		head := message(data[n : n+int(size)])
		data = data[n+int(size):]
		id, first := head.number(1), true
		for info := range head.fields() {
			if info.number != 2 || info.bytes == nil {
				continue
			}
			kind, length := message(info.bytes).number(1), message(info.bytes).number(3)
			if length > uint64(len(data)) {
				return document.Fail(document.Damaged, "part %q: an object of %d bytes", part, length)
			}
			payload := data[:length:length]
			data = data[length:]
			if f.seen++; f.seen > maxObjects {
				return document.Fail(document.TooLarge, "more than %d objects", maxObjects)
			}
			if !first || !wanted(kind) {
				continue // later messages of an object are changes to it that other programs make
			}
			first = false
			f.objects[id] = object{kind, payload}
			if kind == kindDocument && (f.root == 0 || id == 1) {
				f.root = id
			}
		}
	}
	return nil
}

// unpack gives what a part holds: chunks of a kind, a length of three bytes and Snappy's block.
func (f *file) unpack(part string, packed []byte) ([]byte, error) {
	var out bytes.Buffer
	for len(packed) > 0 {
		if len(packed) < 4 || packed[0] != 0 {
			return nil, document.Fail(document.Damaged, "part %q: the head of a chunk", part)
		}
		size := int(packed[1]) | int(packed[2])<<8 | int(packed[3])<<16
		packed = packed[4:]
		if size > len(packed) {
			return nil, document.Fail(document.Damaged, "part %q is cut off", part)
		}
		chunk := packed[:size]
		packed = packed[size:]
		length, err := snappy.DecodedLen(chunk)
		if err != nil || length > 64*len(chunk)+64 { // Snappy makes of a byte some twenty at most
			return nil, document.Fail(document.Damaged, "part %q: a chunk", part)
		}
		if f.left -= int64(length); f.left < 0 {
			return nil, document.Fail(document.TooLarge, "part %q", part)
		}
		plain, err := snappy.Decode(nil, chunk)
		if err != nil {
			return nil, document.Fail(document.Damaged, "part %q: %v", part, errors.Unwrap(err))
		}
		out.Write(plain)
	}
	return out.Bytes(), nil
}

// get finds an object of any kind, and counts what looking through it costs: objects refer to each other freely, and the same
// large one may be named a thousand times.
func (f *file) get(id uint64) object {
	o := f.objects[id]
	if !f.spend(1 + len(o.message)/stepBytes) {
		return object{}
	}
	return o
}

// object finds an object of a kind; an empty one for none.
func (f *file) object(id uint64, kinds ...uint64) message {
	if o := f.get(id); slices.Contains(kinds, o.kind) {
		return o.message
	}
	return nil
}
