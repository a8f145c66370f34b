package numbers

import (
	"encoding/binary"
	"iter"
	"math"
)

// message is a message of protocol buffers, as it lies in the file.
type message []byte

// field is one field of a message: a number or bytes, by its wire type.
type field struct {
	number int
	value  uint64 // of a varint or a fixed field
	bytes  []byte // of a length-delimited field; nil for another
}

// fields gives the fields in their order, up to the first that is none.
func (m message) fields() iter.Seq[field] {
	return func(yield func(field) bool) {
		for len(m) > 0 {
			key, n := binary.Uvarint(m)
			if n <= 0 || key>>3 == 0 || key>>3 > math.MaxInt32 {
				return
			}
			m = m[n:]
			f := field{number: int(key >> 3)}
			switch key & 7 {
			case 0:
				if f.value, n = binary.Uvarint(m); n <= 0 {
					return
				}
			case 1:
				if n = 8; len(m) < n {
					return
				}
				f.value = binary.LittleEndian.Uint64(m)
			case 5:
				if n = 4; len(m) < n {
					return
				}
				f.value = uint64(binary.LittleEndian.Uint32(m))
			case 2:
				size, head := binary.Uvarint(m)
				if head <= 0 || size > uint64(len(m)-head) {
					return
				}
				n = head + int(size)
				f.bytes = m[head:n:n]
			default: // groups are in no file of this kind
				return
			}
			m = m[n:]
			if !yield(f) {
				return
			}
		}
	}
}

// number is the value of a field; 0 for none.
func (m message) number(field int) uint64 {
	for f := range m.fields() {
		if f.number == field && f.bytes == nil {
			return f.value
		}
	}
	return 0
}

// bytes are those of a field; nil for none.
func (m message) bytes(field int) []byte {
	for f := range m.fields() {
		if f.number == field && f.bytes != nil {
			return f.bytes
		}
	}
	return nil
}

// message is the message in a field; an empty one for none.
func (m message) message(field int) message { return m.bytes(field) }

// reference is the object that a field refers to; 0 for none.
func (m message) reference(field int) uint64 { return m.message(field).number(1) }

// references are the objects that a repeated field refers to.
func (m message) references(field int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for f := range m.fields() {
			if f.number == field && f.bytes != nil && !yield(message(f.bytes).number(1)) {
				return
			}
		}
	}
}
