package pack

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

func archive(t *testing.T, parts ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		w, err := z.Create(p[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, p[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func reason(err error) document.Reason {
	var e *document.Error
	errors.As(err, &e)
	if e == nil {
		return ""
	}
	return e.Reason
}

func TestPartsAreFoundAsOfficeFindsThem(t *testing.T) {
	a, err := Open(archive(t, [2]string{"Word/Document.xml", "one"}, [2]string{"/word/document.xml", "two"}, [2]string{`xl\book.bin`, "three"}, [2]string{"folder/", ""}), document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"word/document.xml": "one", "/WORD/./document.xml": "one", "xl/book.bin": "three"} {
		if got, err := a.Read(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := a.Read("folder"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder: %v", err)
	}
	if data, err := a.Optional("none"); data != nil || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if got := strings.Join(a.Names(), " "); got != "Word/Document.xml xl/book.bin" {
		t.Errorf("names: %s", got)
	}
}

func TestWhatUnpacksIsCountedOverAllParts(t *testing.T) {
	big := strings.Repeat("0", 600)
	body := archive(t, [2]string{"a", big}, [2]string{"b", big}, [2]string{"c", "c"})
	a, err := Open(body, document.Limits{Unpacked: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read("b"); reason(err) != document.TooLarge {
		t.Errorf("the second: %v", err)
	}
	if _, err := a.Read("c"); reason(err) != document.TooLarge {
		t.Errorf("after it nothing is left: %v", err)
	}
	exact, err := Open(body, document.Limits{Unpacked: 600})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exact.Read("a"); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
}

func TestDamagedArchives(t *testing.T) {
	body := archive(t, [2]string{"a", strings.Repeat("abc", 1000)})
	for _, bad := range [][]byte{nil, []byte("PK"), body[:len(body)/2]} {
		if _, err := Open(bad, document.Limits{}); reason(err) != document.Damaged {
			t.Errorf("%.10q: %v", bad, err)
		}
	}
	lying := bytes.Clone(body)
	lying[40] ^= 0xff // in the packed bytes
	a, err := Open(lying, document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read("a"); reason(err) != document.Damaged {
		t.Errorf("changed bytes: %v", err)
	}
}

func TestXML(t *testing.T) {
	x := NewXML("p", []byte(`<?xml version="1.0" encoding="windows-1252"?><!DOCTYPE a><w:a xmlns:w="u"><b w:id="1" id="2" r:id="3">t`+"\xe4"+`<c/>u</b><d><e>deep</e></d><f/></w:a>`), document.Limits{})
	if err := x.Root(); err != nil || x.Name != "a" {
		t.Fatalf("%s, %v", x.Name, err)
	}
	var seen []string
	err := x.Children(func(name string) error {
		seen = append(seen, name)
		if name != "b" {
			return nil // what is in d is passed over
		}
		if x.Attr("id") != "2" || x.AttrIn("r", "id") != "3" || x.Has("x") {
			t.Errorf("attributes: %q %q", x.Attr("id"), x.AttrIn("r", "id"))
		}
		text, err := x.AllText()
		if text != "täu" {
			t.Errorf("text: %q", text)
		}
		return err
	})
	if err != nil || strings.Join(seen, " ") != "b d f" {
		t.Errorf("%q, %v", seen, err)
	}
	if err := x.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestHostileXML(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want document.Reason
	}{
		"entities":  {`<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>`, document.Entities},
		"external":  {`<!DOCTYPE a [<!entity b SYSTEM "file:///etc/hostname">]><a>&b;</a>`, document.Entities},
		"unknown":   {`<a>&nothing;</a>`, document.Damaged},
		"deep":      {strings.Repeat("<a>", 300), document.TooDeep},
		"cut":       {`<a><b>`, document.Damaged},
		"unopened":  {`</a>`, document.Damaged},
		"empty":     {``, document.Damaged},
		"not UTF-8": {"<a>\xff</a>", document.Damaged},
		"charset":   {`<?xml version="1.0" encoding="x-none"?><a/>`, document.Damaged},
	} {
		x := NewXML("p", []byte(c.text), document.Limits{})
		err := x.Root()
		for err == nil && x.Depth() > 0 {
			err = x.Next()
		}
		if reason(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, body []byte) {
		const limit = 1 << 20
		a, err := Open(body, document.Limits{Unpacked: limit})
		if err != nil {
			return
		}
		total := 0
		for _, name := range a.Names() {
			data, err := a.Read(name)
			if err == nil {
				total += len(data)
			}
		}
		if total > limit {
			t.Errorf("%d bytes", total)
		}
	})
}
