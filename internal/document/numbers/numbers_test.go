package numbers

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"

	"github.com/wayleave/wayleave/internal/costtest"
	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
)

func read(body []byte) (document.Text, error) {
	return Read(context.Background(), body, document.Limits{})
}

func TestOwnDocuments(t *testing.T) { doctest.Run(t, "../../..", read, ".numbers") }

// A writer of files, for what only some versions write.

func varint(field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3), v)
}

func fixed32(field int, v uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.AppendUvarint(nil, uint64(field)<<3|5), v)
}

func block(field int, parts ...[]byte) []byte {
	all := bytes.Join(parts, nil)
	out := binary.AppendUvarint(nil, uint64(field)<<3|2)
	return append(binary.AppendUvarint(out, uint64(len(all))), all...)
}

func ref(field int, id uint64) []byte { return block(field, varint(1, id)) }

// archived is an object as it lies in a part.
func archived(id, kind uint64, parts ...[]byte) []byte {
	payload := bytes.Join(parts, nil)
	info := bytes.Join([][]byte{varint(1, id), block(2, varint(1, kind), varint(3, uint64(len(payload))))}, nil)
	return append(append(binary.AppendUvarint(nil, uint64(len(info))), info...), payload...)
}

// part packs objects.
func part(objects ...[]byte) []byte {
	packed := snappy.Encode(nil, bytes.Join(objects, nil))
	return append([]byte{0, byte(len(packed)), byte(len(packed) >> 8), byte(len(packed) >> 16)}, packed...)
}

func zipped(parts ...any) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i].(string))
		if err == nil {
			_, err = w.Write(parts[i+1].([]byte))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// cell is a cell of version 5.
func cell(kind byte, has uint32, parts ...any) []byte {
	out := make([]byte, 12)
	out[0], out[1] = 5, kind
	binary.LittleEndian.PutUint32(out[8:], has)
	return appendParts(out, parts)
}

// formerCell is one of a version before.
func formerCell(version, kind byte, flags uint32, parts ...any) []byte {
	out := make([]byte, 12)
	out[0], out[2] = version, kind
	binary.LittleEndian.PutUint32(out[4:], flags)
	return appendParts(out, parts)
}

func appendParts(out []byte, parts []any) []byte {
	for _, p := range parts {
		switch p := p.(type) {
		case float64:
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(p))
		case int:
			out = binary.LittleEndian.AppendUint32(out, uint32(p))
		case []byte:
			out = append(out, p...)
		}
	}
	return out
}

// row lays cells out as a row of a tile; nil for one that is not there.
func row(index uint64, former bool, cells ...[]byte) []byte {
	var data, offsets []byte
	for _, c := range cells {
		at := uint16(len(data))
		if c == nil {
			at = noCell
		}
		data, offsets = append(data, c...), binary.LittleEndian.AppendUint16(offsets, at)
	}
	if former {
		return block(5, varint(1, index), block(3, data), block(4, offsets))
	}
	return block(5, varint(1, index), block(3), block(4), block(6, data), block(7, offsets))
}

// book is a file of one table with these rows.
func book(rows ...[]byte) []byte {
	return zipped("Index/Document.iwa", part(append(furniture(), archived(20, kindTile, rows...))...))
}

func furniture() [][]byte {
	entry := func(key uint64, parts ...[]byte) []byte {
		return block(3, append([][]byte{varint(1, key), varint(2, 1)}, parts...)...)
	}
	return [][]byte{
		archived(1, kindDocument, ref(1, 2)),
		archived(2, kindSheet, block(1, []byte("Survey")), ref(2, 3)),
		archived(3, kindTable, block(1), ref(2, 4)),
		archived(4, kindModel, varint(6, 300), varint(7, 5), block(8, []byte("Table 1")), varint(9, 1),
			block(4, block(1, ref(2, 40)), ref(2, 41), block(3, block(1, varint(1, 0), ref(2, 20)), varint(2, 256)), ref(4, 30), ref(13, 33), ref(17, 31), ref(22, 32))),
		archived(30, kindList, varint(1, 1), entry(1, block(3, []byte("Berth"))), entry(2, block(3, []byte("Depth"))), ref(4, 34)),
		archived(31, kindList, varint(1, 8), entry(1, ref(9, 35))),
		archived(32, kindList, varint(1, 2), entry(1, block(6, varint(1, formatPercent), varint(2, 1)))),
		archived(33, kindMerges, block(1, block(1, fixed32(1, 3)), block(2, fixed32(1, 2<<16|1)))),
		archived(34, kindSegment, varint(1, 1), entry(7, block(3, []byte("of a segment")))),
		archived(35, kindRichText, ref(1, 36)),
		archived(36, kindText, block(3, []byte("rich\ufffc text"))),
		archived(40, kindHeaders, block(2, varint(1, 9), fixed32(2, 0), varint(3, 1))),
		archived(41, kindHeaders),
	}
}

func decimal(coefficient uint64, exponent int) []byte {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint64(b, coefficient)
	e := exponent + 6176
	b[14], b[15] = byte(e<<1), byte(e>>7)
	return b
}

func TestCells(t *testing.T) {
	text := func(key int) []byte { return cell(cellText, partText, key) }
	got, err := read(book(
		row(0, false, text(1), text(2), text(7)),
		row(1, false, cell(cellNumber, partDecimal, decimal(1225, -2)), cell(cellNumber, partDouble, 0.1+0.2), cell(cellCurrency, partDecimal, decimal(5, 3))),
		row(2, false, cell(cellDate, partSeconds, 86400.0*3653), cell(cellTruth, partDouble, 1.0), cell(cellDuration, partDouble, 5430.0)),
		row(3, false, cell(cellRich, partRich|0x20, 1, 9), nil, cell(cellFault, 0x800, 4)),
		row(4, false, cell(cellNumber, partDecimal|0x20|0x1000|partFormat, decimal(125, -3), 5, 6, 1), cell(0, 0), text(99)),
		row(9, false, text(1)), // hidden
		row(70000, false, text(1)),
	))
	want := "## Survey\n\n| Berth | Depth | of a segment |\n| --- | --- | --- |\n| 12.25 | 0.3 | 5000 |\n| 2011-01-02 | TRUE | 1h 30m 30s |\n| rich text | | #ERROR! |\n| 12.5% | | |"
	if err != nil || !strings.HasPrefix(got.Markdown, want) || strings.Count(got.Markdown, "Berth") != 1 {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}

func TestCellsOfFormerVersions(t *testing.T) {
	got, err := read(book(
		row(0, true, formerCell(4, cellText, 0x10, 1), formerCell(4, cellText, 0x12, 77, 2)),
		row(1, true, formerCell(3, cellNumber, 0x20, 8.25), formerCell(4, cellRich, 0x0200|0x1000, 1, 5)),
		row(2, true, formerCell(4, cellDate, 0x40, 3600.0), formerCell(4, cellTruth, 0x20, 0.0)),
	))
	want := "## Survey\n\n| Berth | Depth |\n| --- | --- |\n| 8.25 | rich text |\n| 2001-01-01 01:00 | FALSE |"
	if err != nil || got.Markdown != want {
		t.Errorf("%v\n%s", err, got.Markdown)
	}
}

func TestFormsOfThePackage(t *testing.T) {
	index := part(append(furniture(), archived(20, kindTile, row(0, false, cell(cellText, partText, 1))))...)
	for name, body := range map[string][]byte{
		"a folder":   zipped("Survey.numbers/Index/Document.iwa", index, "Survey.numbers/Metadata/Properties.plist", []byte("x")),
		"an archive": zipped("Index.zip", zipped("Index/Document.iwa", index)),
		"both":       zipped("Survey.numbers/Index.zip", zipped("Document.iwa", index)),
	} {
		if got, err := read(body); err != nil || !strings.Contains(got.Markdown, "Berth") {
			t.Errorf("%s: %v\n%s", name, err, got.Markdown)
		}
	}
}

// TestPartsThatAreNotNeeded: what other programs packed in their own way, and nobody is shown.
func TestPartsThatAreNotNeeded(t *testing.T) {
	index := part(append(furniture(), archived(20, kindTile, row(0, false, cell(cellText, partText, 1))))...)
	for _, name := range []string{"OperationStorage.iwa", "OperationStorage-7.iwa", "ViewState-12.iwa", "Metadata.iwa"} {
		if got, err := read(zipped("Index/Document.iwa", index, "Index/"+name, []byte("bvxn\x96\x00"))); err != nil || !strings.Contains(got.Markdown, "Berth") {
			t.Errorf("%s: %v\n%s", name, err, got.Markdown)
		}
	}
}

func TestSheetsThatAreHiddenAndTextsBesideTables(t *testing.T) {
	objects := furniture()
	objects[0] = archived(1, kindDocument, ref(1, 2), ref(1, 50))
	objects[1] = archived(2, kindSheet, block(1, []byte("Survey")), ref(2, 51), ref(2, 52))
	objects = append(objects, archived(20, kindTile, row(0, false, cell(cellText, partText, 1))),
		archived(50, kindSheet, block(1, []byte("Secret")), ref(2, 3), varint(25, 1)),
		archived(51, kindShape, ref(4, 36)), archived(52, kindGroup, ref(2, 3), ref(2, 52)))
	got, err := read(zipped("Index/Document.iwa", part(objects...)))
	if want := "## Survey\n\nrich text\n\n### Table 1\n\n| Berth |\n| --- |\n\n*Hidden and left out: Secret.*"; err != nil || got.Markdown != want || len(got.Notes) != 1 {
		t.Errorf("%v %v\n%s", err, got.Notes, got.Markdown)
	}
}

// TestCaptions: a caption is said with its table, unless it is hidden or a stand-in without a text.
func TestCaptions(t *testing.T) {
	for hidden, want := range []string{"## Survey\n\nrich text\n\n| Berth |\n| --- |", "## Survey\n\n| Berth |\n| --- |"} {
		objects := append(furniture(), archived(20, kindTile, row(0, false, cell(cellText, partText, 1))), archived(60, kindCaption, block(1, ref(4, 36))))
		objects[2] = archived(3, kindTable, block(1, ref(11, 60), varint(13, uint64(hidden))), ref(2, 4))
		got, err := read(zipped("Index/Document.iwa", part(objects...)))
		if err != nil || got.Markdown != want {
			t.Errorf("hidden %d: %v\n%s", hidden, err, got.Markdown)
		}
	}
}

func TestNumbersAsTheyAreShown(t *testing.T) {
	for _, c := range []struct {
		coefficient uint64
		exponent    int
		want        string
	}{{0, 0, "0"}, {0, -5, "0"}, {35, -1, "3.5"}, {350, -2, "3.5"}, {180, 0, "180"}, {5, -3, "0.005"}, {7, 3, "7000"}, {12, 100, "1.2E+101"}, {1234, -303, "1.234E-300"}, {1, 50, "1E+50"}, {300000000000000044, -18, "0.3"}} {
		if got := decimal128(decimal(c.coefficient, c.exponent)); got != c.want {
			t.Errorf("%d E %d: %s", c.coefficient, c.exponent, got)
		}
	}
	if got := decimal128(append(decimal(5, 0)[:15], 0xB0)); got != "-5" {
		t.Errorf("negative: %s", got)
	}
	for f, want := range map[float64]string{1e6: "1000000", 2021.5: "2021.5", 1.0 / 3: "0.333333333333333", 1e30: "1E+30", math.NaN(): "", math.Inf(1): ""} {
		if got := number(f); got != want {
			t.Errorf("%v: %s", f, got)
		}
	}
	for f, want := range map[float64]string{0: "0s", 60: "1m", -90061: "-1d 1h 1m 1s", 0.25: "250ms", math.NaN(): ""} {
		if got := duration(f); got != want {
			t.Errorf("%v: %s", f, got)
		}
	}
}

func TestRefusals(t *testing.T) {
	whole := part(furniture()...)
	bomb := append([]byte{0, 6, 0, 0}, 0xff, 0xff, 0xff, 0xff, 0x0f, 0)
	many := bytes.Repeat(part(bytes.Repeat([]byte{0}, 65536)), 40)
	for name, c := range map[string]struct {
		body []byte
		want document.Reason
	}{
		"encrypted":    {zipped(".iwpv2", []byte("x"), "Index/Document.iwa", whole), document.Encrypted},
		"no objects":   {zipped("Index/Document.iwa", []byte{}), document.Unsupported},
		"nothing":      {zipped("a", []byte("b")), document.Damaged},
		"the past":     {zipped("index.xml", []byte("<x/>")), document.Unsupported},
		"cut":          {zipped("Index/Document.iwa", whole[:len(whole)-5]), document.Damaged},
		"not packed":   {zipped("Index/Document.iwa", []byte("hello world")), document.Damaged},
		"a bomb":       {zipped("Index/Document.iwa", bomb), document.Damaged},
		"many":         {zipped("Index/Document.iwa", many), document.TooLarge},
		"another head": {zipped("Index/Document.iwa", part([]byte{200, 1, 2})), document.Damaged},
		"no sheets":    {zipped("Index/Document.iwa", part(archived(1, kindDocument))), document.Unsupported},
	} {
		text, err := Read(context.Background(), c.body, document.Limits{Unpacked: 1 << 20})
		var e *document.Error
		if errors.As(err, &e); e == nil || e.Reason != c.want || text.Markdown != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHostileTables(t *testing.T) {
	wide := make([][]byte, 0, 5000)
	for i := range 5000 {
		wide = append(wide, row(uint64(i%200), false, cell(cellText, partText, 1), cell(cellNumber, partDecimal, bytes.Repeat([]byte{0xff}, 16))))
	}
	costtest.Within(t, "many rows", 5*time.Second, func() {
		if got, err := read(book(wide...)); err != nil || got.Markdown == "" {
			t.Errorf("many rows: %v", err)
		}
	})
	loop := [][]byte{archived(1, kindDocument, ref(1, 2), ref(1, 2)), archived(2, kindSheet, block(1, []byte("S")), bytes.Repeat(ref(2, 3), 40)), archived(3, kindGroup, bytes.Repeat(ref(2, 3), 40))}
	costtest.Within(t, "groups in themselves", 5*time.Second, func() {
		if _, err := read(zipped("Index/Document.iwa", part(loop...))); err != nil {
			t.Errorf("groups in themselves: %v", err)
		}
	})
	// Large objects that name each other many times.
	all := [][]byte{archived(1, kindDocument, sheetRefs(1000)...)}
	for id := range uint64(1000) {
		all = append(all, archived(100+id, kindSheet, block(1, []byte("S")), bytes.Repeat(ref(2, 3), 2000)))
	}
	all = append(all, archived(3, kindTable, bytes.Repeat(varint(9, 1), 20_000), ref(2, 4)), archived(4, kindModel, bytes.Repeat(varint(30, 1), 20_000)))
	var parts []any
	for i, object := range all {
		parts = append(parts, fmt.Sprintf("Index/%d.iwa", i), part(object))
	}
	body := zipped(parts...)
	costtest.Within(t, "large objects", 10*time.Second, func() {
		_, err := read(body)
		var failed *document.Error
		if !errors.As(err, &failed) || failed.Reason != document.TooLarge {
			t.Errorf("large objects: %v", err)
		}
	})
}

func sheetRefs(n uint64) (all [][]byte) {
	for id := range n {
		all = append(all, ref(1, 100+id))
	}
	return all
}

func FuzzNumbers(f *testing.F) {
	body, err := os.ReadFile("../../../testdata/documents/harbour-sheetjs.numbers")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(book(row(0, false, cell(cellText, partText, 1))))
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := Read(context.Background(), body, document.Limits{Unpacked: 4 << 20})
		if err != nil && text.Markdown != "" {
			t.Error("an error and a text")
		}
	})
}

// FuzzObjects tries what stands in a part, which no change of packed bytes would reach.
func FuzzObjects(f *testing.F) {
	f.Add(bytes.Join(append(furniture(), archived(20, kindTile, row(0, false, cell(cellText, partText, 1), cell(cellNumber, partDecimal, decimal(5, 0))), row(1, true, formerCell(4, cellText, 0x10, 1)))), nil))
	f.Fuzz(func(t *testing.T, objects []byte) {
		if len(objects) > 1<<16 {
			return
		}
		body := zipped("Index/Document.iwa", part(objects))
		costtest.Within(t, "it", 10*time.Second, func() {
			text, err := Read(context.Background(), body, document.Limits{Unpacked: 4 << 20})
			if err != nil && text.Markdown != "" {
				t.Error("an error and a text")
			}
		})
	})
}
