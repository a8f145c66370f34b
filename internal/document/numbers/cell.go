package numbers

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/document/sheet"
)

// Kinds of cells.
const (
	cellNumber   = 2
	cellText     = 3
	cellDate     = 5
	cellTruth    = 6
	cellDuration = 7
	cellFault    = 8
	cellRich     = 9
	cellCurrency = 10
)

// raw is what a cell holds before it is text. What it has not is told by has.
type raw struct {
	kind    byte
	has     uint32
	decimal string
	double  float64
	seconds float64
	text    uint32
	rich    uint32
	format  message
}

// Parts that a cell may have, in their order, of the present version: what each takes is told by cursor.
const (
	partDecimal = 1 << 0
	partDouble  = 1 << 1
	partSeconds = 1 << 2
	partText    = 1 << 3
	partRich    = 1 << 4
	partFormat  = 1 << 13
)

// cursor reads parts of a cell one after the other.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.rest) {
		c.bad = true
		return make([]byte, n)
	}
	part := c.rest[:n]
	c.rest = c.rest[n:]
	return part
}

func (c *cursor) word() uint32    { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) double() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(c.take(8))) }

// cell reads a cell; false for an empty one and for one that is none.
func (t *table) cell(data []byte) (sheet.Value, bool) {
	if len(data) < 12 {
		return sheet.Value{}, false
	}
	var r raw
	ok := false
	switch data[0] {
	case 5:
		r, ok = t.present(data)
	case 0, 1, 2, 3, 4:
		r, ok = t.former(data)
	}
	if !ok {
		return sheet.Value{}, false
	}
	return t.value(r)
}

// present reads a cell of version 5.
func (t *table) present(data []byte) (raw, bool) {
	r := raw{kind: data[1], has: binary.LittleEndian.Uint32(data[8:])}
	c := cursor{rest: data[12:]}
	if r.has&partDecimal != 0 {
		r.decimal = decimal128(c.take(16))
	}
	if r.has&partDouble != 0 {
		r.double = c.double()
	}
	if r.has&partSeconds != 0 {
		r.seconds = c.double()
	}
	if r.has&partText != 0 {
		r.text = c.word()
	}
	if r.has&partRich != 0 {
		r.rich = c.word()
	}
	if r.has&partFormat != 0 {
		c.take(4 * bits.OnesCount32(r.has&(partFormat-1)&^(2*partRich-1)))
		r.format = t.formats[c.word()]
	}
	return r, !c.bad
}

// former reads a cell of the versions before 5. The kind stands elsewhere, and so do the parts.
func (t *table) former(data []byte) (raw, bool) {
	flags := binary.LittleEndian.Uint32(data[4:])
	r := raw{kind: data[2]}
	head, styles, counted := 12, uint32(0x0D8E), uint32(0x3000)
	if data[0] < 2 {
		head, styles, counted = 8, 0x018E, 0x1000
	}
	c := cursor{rest: data[head:]}
	c.take(4 * bits.OnesCount32(flags&styles))
	if flags&0x0200 != 0 {
		r.rich, r.has = c.word(), r.has|partRich
	}
	c.take(4 * bits.OnesCount32(flags&counted))
	if flags&0x0010 != 0 {
		r.text, r.has = c.word(), r.has|partText
	}
	if flags&0x0020 != 0 {
		r.double, r.has = c.double(), r.has|partDouble
	}
	if flags&0x0040 != 0 {
		r.seconds, r.has = c.double(), r.has|partSeconds
	}
	return r, !c.bad
}

// value is what a cell shows.
func (t *table) value(r raw) (sheet.Value, bool) {
	switch r.kind {
	case cellNumber, cellCurrency:
		text := r.decimal
		if r.has&partDecimal == 0 {
			if r.has&partDouble == 0 {
				return sheet.Value{}, false
			}
			text = number(r.double)
		}
		if r.format.number(1) == formatPercent {
			text = percent(text, r.format.number(2))
		}
		return sheet.Value{Text: text, Kind: sheet.Number}, true
	case cellText:
		return sheet.Value{Text: t.strings[r.text]}, r.has&partText != 0
	case cellRich:
		switch {
		case r.has&partRich != 0:
			return sheet.Value{Text: t.file.text(t.rich[r.rich])}, true
		case r.has&partText != 0:
			return sheet.Value{Text: t.strings[r.text]}, true
		}
	case cellDate:
		if text := moment(r.seconds); r.has&partSeconds != 0 && text != "" {
			return sheet.Value{Text: text, Kind: sheet.Moment}, true
		}
	case cellTruth:
		value := r.double
		if r.has&partDecimal != 0 && r.has&partDouble == 0 {
			value, _ = strconv.ParseFloat(r.decimal, 64)
		}
		text := "FALSE"
		if value > 0 {
			text = "TRUE"
		}
		return sheet.Value{Text: text, Kind: sheet.Truth}, r.has&(partDouble|partDecimal) != 0
	case cellDuration:
		if r.has&partDouble != 0 {
			return sheet.Value{Text: duration(r.double), Kind: sheet.Moment}, true
		}
	case cellFault:
		return sheet.Value{Text: "#ERROR!", Kind: sheet.Fault}, true
	}
	return sheet.Value{}, false
}

// decimal128 spells a decimal number of IEEE 754's binary form: a coefficient of 113 bits and an exponent of ten.
func decimal128(b []byte) string {
	const bias = 6176
	exponent := (int(b[15]&0x7f)<<7 | int(b[14])>>1) - bias
	coefficient := make([]byte, 15)
	for i := range 14 {
		coefficient[14-i] = b[i]
	}
	coefficient[0] = b[14] & 1
	digits := new(big.Int).SetBytes(coefficient).String()
	negative := b[15]&0x80 != 0
	for len(digits) > 1 && digits[len(digits)-1] == '0' && exponent < 0 {
		digits = digits[:len(digits)-1]
		exponent++
	}
	if digits == "0" {
		return "0"
	}
	const longest = 40
	var text string
	switch {
	case exponent >= 0 && len(digits)+exponent <= longest:
		text = digits + strings.Repeat("0", exponent)
	case exponent < 0 && -exponent < len(digits):
		text = digits[:len(digits)+exponent] + "." + digits[len(digits)+exponent:]
	case exponent < 0 && -exponent <= longest:
		text = "0." + strings.Repeat("0", -exponent-len(digits)) + digits
	default:
		text = scientific(digits, exponent)
	}
	// Sums of binary fractions come with a tail that nobody is shown.
	if len(digits) > 15 {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			text = number(f)
		}
	}
	if negative {
		return "-" + text
	}
	return text
}

// scientific spells digits with an exponent of ten, one of them before the point.
func scientific(digits string, exponent int) string {
	exponent += len(digits) - 1
	if digits = digits[:1] + "." + strings.TrimRight(digits[1:], "0"); digits[len(digits)-1] == '.' {
		digits = digits[:1]
	}
	return fmt.Sprintf("%sE%+03d", digits, exponent)
}

// number spells a number with the fifteen digits that it is good for.
func number(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 14, 64), 64)
	if err != nil {
		short = f
	}
	if a := math.Abs(short); a != 0 && (a >= 1e21 || a < 1e-9) {
		return strconv.FormatFloat(short, 'E', -1, 64)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

const (
	formatPercent = 258
	mostPlaces    = 15 // above it the format is to show as many as there are
)

func percent(text string, places uint64) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if places <= mostPlaces {
		return strconv.FormatFloat(f*100, 'f', int(places), 64) + "%"
	}
	return number(f*100) + "%"
}

// moment is a date by its seconds from the start of 2001; empty for one that no calendar has.
func moment(seconds float64) string {
	const most = 300_000_000_000 // seconds, some ten thousand years
	if !(math.Abs(seconds) < most) {
		return ""
	}
	at := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(math.Floor(seconds/86400)))
	rest := time.Duration(math.Round(math.Mod(math.Mod(seconds, 86400)+86400, 86400))) * time.Second
	at = at.Add(rest)
	if rest == 0 {
		return at.Format(time.DateOnly)
	}
	if at.Second() == 0 {
		return at.Format("2006-01-02 15:04")
	}
	return at.Format(time.DateTime)
}

// duration spells a span of time.
func duration(seconds float64) string {
	const most = 1e12
	if !(math.Abs(seconds) < most) {
		return ""
	}
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	ms := int64(math.Round(seconds * 1000))
	var parts []string
	for _, u := range []struct {
		ms   int64
		name string
	}{{7 * 86400_000, "w"}, {86400_000, "d"}, {3600_000, "h"}, {60_000, "m"}, {1000, "s"}, {1, "ms"}} {
		if n := ms / u.ms; n > 0 {
			parts = append(parts, fmt.Sprintf("%d%s", n, u.name))
			ms -= n * u.ms
		}
	}
	if len(parts) == 0 {
		return "0s"
	}
	return sign + strings.Join(parts, " ")
}
