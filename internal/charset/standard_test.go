package charset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// standard is testdata/standard.json: answers that were made with other implementations of the Encoding Standard.
type standard struct {
	Labels  map[string]string      `json:"labels"`  // encoding to its labels, a blank apart
	Vectors map[string][][2]string `json:"vectors"` // encoding to pairs of hex bytes and text
	Upper   map[string]string      `json:"upper"`
	Digests map[string]string      `json:"digests"`
}

func loadStandard(t testing.TB) standard {
	t.Helper()
	raw, err := os.ReadFile("testdata/standard.json")
	if err != nil {
		t.Fatal(err)
	}
	var s standard
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryLabelNamesItsEncoding(t *testing.T) {
	total := 0
	for want, labels := range loadStandard(t).Labels {
		for label := range strings.FieldsSeq(labels) {
			total++
			for _, spelling := range []string{label, strings.ToUpper(label), "\t\n\f\r " + label + " "} {
				if got := encodingOf(spelling); got != want {
					t.Errorf("label %q names %q, want %q", spelling, got, want)
				}
			}
		}
	}
	if total != 228 {
		t.Errorf("%d labels were checked, the standard has 228", total)
	}
	for _, label := range []string{"", " ", "utf 8", "utf-7", "utf-32", "banana", "latin1\x00", "\u00a0utf-8", "\u212aoi8-r", "cesu-8"} {
		if got := encodingOf(label); got != "" {
			t.Errorf("%q is no label, but names %q", label, got)
		}
	}
}

func TestRandomBytesDecodeAsTheStandardSays(t *testing.T) {
	for encoding, vectors := range loadStandard(t).Vectors {
		if len(vectors) != 200 {
			t.Errorf("%s: %d vectors, want 200", encoding, len(vectors))
		}
		for _, v := range vectors {
			body, err := hex.DecodeString(v[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := string(decoderOf(encoding)(nil, body)); got != v[1] {
				t.Errorf("%s %s:\n got %q\nwant %q", encoding, v[0], got, v[1])
			}
		}
	}
}

func TestUpperHalvesAreTheStandards(t *testing.T) {
	upper := loadStandard(t).Upper
	if len(upper) != 29 {
		t.Errorf("%d encodings with one byte a character, want 29", len(upper))
	}
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	for encoding, want := range upper {
		got := string(decoderOf(encoding)(nil, all[:]))
		if got != string(all[:128])+want {
			t.Errorf("%s:\n got %q\nwant %q", encoding, got[128:], want)
		}
	}
}

// TestEveryPairIsTheStandards pins whole indexes: each lead byte with each second byte, right or broken.
func TestEveryPairIsTheStandards(t *testing.T) {
	pairs := func(emit func(...byte)) {
		for a := 0x80; a <= 0xFF; a++ {
			for b := 0; b <= 0xFF; b++ {
				emit(byte(a), byte(b))
			}
		}
	}
	sequences := map[string]func(emit func(...byte)){
		"pairs of gbk": pairs, "pairs of gb18030": pairs, "pairs of big5": pairs,
		"pairs of euc-kr": pairs, "pairs of shift_jis": pairs, "pairs of euc-jp": pairs,
		"pairs of iso-2022-jp": func(emit func(...byte)) {
			for a := 0x21; a < 0x7F; a++ {
				for b := range 128 {
					emit(0x1B, '$', 'B', byte(a), byte(b))
				}
			}
		},
		"triples of euc-jp": func(emit func(...byte)) {
			for a := 0xA1; a <= 0xFE; a++ {
				for b := 0xA1; b <= 0xFE; b++ {
					emit(0x8F, byte(a), byte(b))
				}
			}
		},
		"quadruples of gb18030": func(emit func(...byte)) {
			for p := range gb18030Pointers {
				emit(byte(p/12600+0x81), byte(p/1260%10+'0'), byte(p/10%126+0x81), byte(p%10+'0'))
			}
		},
	}
	for name, want := range loadStandard(t).Digests {
		_, encoding, _ := strings.Cut(name, " of ")
		each, decode := sequences[name], decoderOf(encoding)
		if each == nil {
			t.Fatalf("no sequences for %q", name)
		}
		hash, first := sha256.New(), true
		each(func(sequence ...byte) {
			if !first {
				hash.Write([]byte{'\n'})
			}
			first = false
			hash.Write(decode(nil, sequence))
		})
		if got := hex.EncodeToString(hash.Sum(nil)); got != want {
			t.Errorf("%s: the texts are not those of the standard", name)
		}
	}
}

func TestGB18030ReachesEveryPlane(t *testing.T) {
	for _, c := range []struct {
		bytes string
		want  string
	}{
		{"\x90\x30\x81\x30", "\U00010000"},
		{"\xE3\x32\x9A\x35", "\U0010FFFF"},
		{"\xE3\x32\x9A\x36", "\uFFFD"}, // one further than the last character
		{"\x84\x31\xA4\x39", "\uFFFF"}, // the last below U+10000
		{"\x84\x31\xA5\x30", "\uFFFD"}, // between the two areas
		{"\x8F\x39\xFE\x39", "\uFFFD"},
	} {
		if got := string(decodeGB18030(nil, []byte(c.bytes))); got != c.want {
			t.Errorf("% x: got %q, want %q", c.bytes, got, c.want)
		}
	}
}

// TestASCIIAfterABrokenLeadByteSurvives is W-111: a lead byte must not swallow the "<" or quote that follows it.
func TestASCIIAfterABrokenLeadByteSurvives(t *testing.T) {
	for _, encoding := range []string{utf8Name, "gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"} {
		decode := decoderOf(encoding)
		for lead := 0x80; lead <= 0xFF; lead++ {
			for _, ascii := range []byte("\x00\n !\"&'<>?") {
				got := string(decode(nil, []byte{byte(lead), ascii, '<'}))
				if !strings.HasSuffix(got, string(rune(ascii))+"<") {
					t.Errorf("%s: %02x %02x: got %q, the ASCII byte is lost", encoding, lead, ascii, got)
				}
			}
		}
	}
}

// TestISO2022JPEnd pins what the standard says of a sequence that the end cuts, where browsers differ.
func TestISO2022JPEnd(t *testing.T) {
	for _, c := range []struct{ bytes, want string }{
		{"a\x1B", "a\uFFFD"},
		{"a\x1B(", "a\uFFFD("},
		{"\x1B$B\x1B(", "\uFFFD\uFFFD"}, // "(" is the first half of a pair then
		{"\x1B$B0", "\uFFFD"},
		{"\x1B(B\x1B(Ba", "\uFFFDa"}, // an empty run between two escapes
		{"\x1B$B\x1B(Ba", "\uFFFDa"},
	} {
		got := string(decodeISO2022JP(nil, []byte(c.bytes)))
		if got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q: got %q, want %q", c.bytes, got, c.want)
		}
	}
}
