package numfmt

// maxStyles is how many codes and how many styles a workbook may list; Excel allows 65,490. What comes after is General.
const maxStyles = 100_000

// maxCodes is how long all codes of a workbook together may be, in bytes. Workbooks that were edited for decades have 200,000.
const maxCodes = 512 << 10

// Styles are the number formats of a workbook's cells, by the number of a cell's style. The zero value has none.
type Styles struct {
	codes  map[int]string // by the format's number
	bytes  int            // of all codes
	ids    []int          // numbers of formats, by style
	parsed map[int]*Format
}

// Code notes the code of a format that the workbook defines.
func (s *Styles) Code(id int, code string) {
	if len(s.codes) >= maxStyles || s.bytes+len(code) > maxCodes {
		return
	}
	s.bytes += len(code)
	if s.codes == nil {
		s.codes = make(map[int]string)
	}
	s.codes[id] = code
}

// Codes is how many formats the workbook defines.
func (s *Styles) Codes() int { return len(s.codes) }

// Style notes the format of the next style.
func (s *Styles) Style(id int) {
	if len(s.ids) < maxStyles {
		s.ids = append(s.ids, id)
	}
}

// Format gives the format of a style; that of a style which is not there is General.
func (s *Styles) Format(style int) *Format {
	id := 0
	if style >= 0 && style < len(s.ids) {
		id = s.ids[style]
	}
	f := s.parsed[id]
	if f == nil {
		code, ok := s.codes[id]
		if !ok {
			code = Builtin(id)
		}
		f = Parse(code)
		if s.parsed == nil {
			s.parsed = make(map[int]*Format)
		}
		s.parsed[id] = f
	}
	return f
}
