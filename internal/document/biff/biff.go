// Package biff reads what the records of binary workbooks have in common, those of .xls files and those of .xlsb parts. It
// knows neither how records follow each other nor what they are for.
package biff

import (
	"encoding/binary"
	"math"
)

// Fields are the bytes of one record. A field that is not there in full is zero: a record that is too short says less, and
// what it is for stays readable.
type Fields []byte

// U16 is the unsigned number of two bytes at an offset.
func (f Fields) U16(at int) int {
	if at+2 > len(f) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(f[at:]))
}

// U32 is the unsigned number of four bytes at an offset.
func (f Fields) U32(at int) uint32 {
	if at+4 > len(f) {
		return 0
	}
	return binary.LittleEndian.Uint32(f[at:])
}

// F64 is the number of eight bytes at an offset.
func (f Fields) F64(at int) float64 {
	if at+8 > len(f) {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(f[at:]))
}

// Byte is the byte at an offset.
func (f Fields) Byte(at int) byte {
	if at >= len(f) {
		return 0
	}
	return f[at]
}

// From gives the bytes from an offset on.
func (f Fields) From(at int) Fields { return f[min(at, len(f)):] }

// Packed is a number in four bytes: thirty bits of an integer or the upper ones of a float, in hundredths or not.
func Packed(u uint32) float64 {
	var v float64
	if u&2 != 0 {
		v = float64(int32(u) >> 2)
	} else {
		v = math.Float64frombits(uint64(u&^3) << 32)
	}
	if u&1 != 0 {
		v /= 100
	}
	return v
}

// Fault is what a cell shows for the code of an error.
func Fault(code byte) string {
	switch code {
	case 0x00:
		return "#NULL!"
	case 0x07:
		return "#DIV/0!"
	case 0x0F:
		return "#VALUE!"
	case 0x17:
		return "#REF!"
	case 0x1D:
		return "#NAME?"
	case 0x24:
		return "#NUM!"
	case 0x2A:
		return "#N/A"
	case 0x2B:
		return "#GETTING_DATA"
	}
	return "#ERROR!"
}
