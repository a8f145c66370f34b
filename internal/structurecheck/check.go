// The check language: one object per check, one key that names it.

package structurecheck

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Check is one statement about an output. Its shape is private: cases are written as JSON and judged by Case.Judge.
type Check struct {
	wire   wireCheck
	name   string // text_in_order, table …
	source string // the check as it was written, for messages
}

type wireCheck struct {
	TextInOrder []string         `json:"text_in_order"`
	Text        *string          `json:"text"`
	Absent      []string         `json:"absent"`
	Once        []string         `json:"once"`
	SourceHas   []string         `json:"source_has"`
	SourceLacks []string         `json:"source_lacks"`
	Roundtrip   *string          `json:"roundtrip"`
	Heading     *wantHeading     `json:"heading"`
	Headings    *[]wantHeading   `json:"headings"`
	Table       *wantTable       `json:"table"`
	List        *wantList        `json:"list"`
	DefList     [][]string       `json:"deflist"`
	Code        *wantCode        `json:"code"`
	InlineCode  *string          `json:"inline_code"`
	Link        *wantLink        `json:"link"`
	Image       *wantImage       `json:"image"`
	NoLink      *wantNoLink      `json:"no_link"`
	NoImage     *wantNoImage     `json:"no_image"`
	Emphasis    *wantEmphasis    `json:"emphasis"`
	NoEmphasis  *wantEmphasis    `json:"no_emphasis"`
	Quote       *wantQuote       `json:"quote"`
	Lines       []string         `json:"lines"`
	Paras       []string         `json:"paras"`
	HR          *int             `json:"hr"`
	Count       map[string]count `json:"count"`
	Sup         *wantSup         `json:"sup"`
	Footnote    *wantFootnote    `json:"footnote"`
	Math        texts            `json:"math"`
	Display     bool             `json:"display"` // belongs to math
	Title       *string          `json:"title"`
	Thin        json.RawMessage  `json:"thin"` // a kind, or null for an ordinary page
	MaxChars    *int             `json:"max_chars"`
	MinChars    *int             `json:"min_chars"`
	AnyOf       [][]Check        `json:"any_of"`
}

// UnmarshalJSON refuses a check without exactly one name.
func (c *Check) UnmarshalJSON(raw []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return err
	}
	names := len(keys)
	if _, ok := keys["display"]; ok {
		if _, ok := keys["math"]; !ok {
			return fmt.Errorf("display: belongs to math alone, in %s", raw)
		}
		names--
	}
	if names != 1 {
		return fmt.Errorf("a check has exactly one name, in %s", raw)
	}
	if err := strict(raw, &c.wire); err != nil {
		return fmt.Errorf("%w in %s", err, raw)
	}
	for name, value := range keys {
		if name != "thin" && string(value) == "null" {
			return fmt.Errorf("%s: null says nothing, in %s", name, raw)
		}
		if name != "display" {
			c.name = name
		}
	}
	c.source = shorten(string(raw), 300)
	return nil
}

// texts is one right text or a list of them.
type texts []string

func (t *texts) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = texts{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(raw, &many); err != nil {
		return err
	}
	if len(many) == 0 {
		return fmt.Errorf("an empty list of texts allows none")
	}
	*t = many
	return nil
}

type wantHeading struct {
	level int // 0 means any
	text  string
}

func (w *wantHeading) UnmarshalJSON(raw []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if string(pair[0]) != `"*"` {
		if err := json.Unmarshal(pair[0], &w.level); err != nil {
			return err
		}
	}
	return json.Unmarshal(pair[1], &w.text)
}

// count is a number or the bounds of one, both included.
type count struct{ min, max int }

func (c *count) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &c.min) == nil {
		c.max = c.min
		return nil
	}
	var bounds [2]int
	if err := json.Unmarshal(raw, &bounds); err != nil {
		return err
	}
	c.min, c.max = bounds[0], bounds[1]
	return nil
}

type wantTable struct {
	Header []wantCell   `json:"header"` // nil: no header cells in the page
	Rows   [][]wantCell `json:"rows"`
}

type wantCell struct {
	Text    *string  `json:"text"`
	Covered *string  `json:"covered"`
	Any     []string `json:"any"`
	HasText []string `json:"has_text"`
	Has     []Check  `json:"has"`
}

func (w *wantCell) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		w.Text = &text
		return nil
	}
	type plain wantCell
	return strict(raw, (*plain)(w))
}

type wantList struct {
	Ordered *bool      `json:"ordered"`
	Start   *int       `json:"start"`
	Items   []wantItem `json:"items"`
}

type wantItem struct {
	Text    *string    `json:"text"`
	Starts  *string    `json:"starts"`
	Checked *bool      `json:"checked"`
	Paras   []string   `json:"paras"`
	Code    *wantCode  `json:"code"`
	List    *wantList  `json:"list"`
	Lists   []wantList `json:"lists"`
	Has     []Check    `json:"has"`
}

func (w *wantItem) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		w.Text = &text
		return nil
	}
	type plain wantItem
	return strict(raw, (*plain)(w))
}

type wantCode struct {
	Lang texts   `json:"lang"`
	Text *string `json:"text"`
}

type wantLink struct {
	Text texts `json:"text"`
	Href texts `json:"href"`
}

type wantImage struct {
	Alt texts `json:"alt"`
	Src texts `json:"src"`
}

type wantNoLink struct {
	Text    *string `json:"text"`
	HrefHas *string `json:"href_has"`
}

type wantNoImage struct {
	Alt    *string `json:"alt"`
	SrcHas *string `json:"src_has"`
}

type wantEmphasis struct {
	Kind string `json:"kind"`
	Text texts  `json:"text"`
}

type wantQuote struct {
	Depth int     `json:"depth"` // 0 means any
	Text  *string `json:"text"`
	Has   []Check `json:"has"`
}

type wantSup struct {
	Base string `json:"base"`
	Text string `json:"text"`
}

type wantFootnote struct {
	After string   `json:"after"`
	Label anyLabel `json:"label"`
	Text  string   `json:"text"`
	Loose bool     `json:"loose"` // a marker that stands apart will do
}

// anyLabel is a footnote's label, written as a number or a text.
type anyLabel string

func (l *anyLabel) UnmarshalJSON(raw []byte) error {
	*l = anyLabel(strings.Trim(string(raw), `"`))
	return nil
}

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
