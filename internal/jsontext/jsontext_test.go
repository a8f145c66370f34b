package jsontext

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func TestJSONIsLaidOutWithEveryTokenAsWritten(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"object", `{"a":1,"b":[true,null]}`, "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ]\n}"},
		{"empty containers", "{\"a\":{ \n},\"b\":[\t]}", "{\n  \"a\": {},\n  \"b\": []\n}"},
		{"empty at the top", " [ ] ", "[]"},
		{"a string", "  \"x\" \n", `"x"`},
		{"a word", "null", "null"},
		{"a number", " -0.50e+07 ", "-0.50e+07"},
		{"numbers keep their digits", `[9007199254740993,1.0,1e400,-0,0.1000000000000000055511151231257827]`,
			"[\n  9007199254740993,\n  1.0,\n  1e400,\n  -0,\n  0.1000000000000000055511151231257827\n]"},
		{"keys keep their order and number", `{"b":1,"10":2,"2":3,"b":4}`, "{\n  \"b\": 1,\n  \"10\": 2,\n  \"2\": 3,\n  \"b\": 4\n}"},
		{"strings keep their spelling", `["\u00e9\/\ud800","é {}[],:\"\\"]`, "[\n  \"\\u00e9\\/\\ud800\",\n  \"é {}[],:\\\"\\\\\"\n]"},
		{"laid out before", "{\r\n\t\"a\" :\n1\n}", "{\n  \"a\": 1\n}"},
	} {
		if got, ok := Indent(c.src); !ok || got != c.want {
			t.Errorf("%s: got %v %q, want %q", c.name, ok, got, c.want)
		}
	}
}

func TestOnlyStrictJSONIsJSON(t *testing.T) {
	for _, src := range []string{
		"", " ", "{not json", `{"a":`, `{"a"}`, `{"a":1,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`, `{a:1}`, `{1:2}`, `{'a':1}`,
		`{"a":1}}`, `[1]]`, `[1}`, `{"a":1]`, `[`, `{`, `}`, `]`, `,`, `:`, `[1:2]`, `{"a",1}`, `{"a":1}{"b":2}`, "{}\n{}", `1 2`,
		"01", "-", "+1", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "--1", "NaN", "Infinity", "-Infinity", "1a",
		"tru", "True", "nul", "nulls", "undefined", `"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", "\"\x00\"", "\"\t\"",
		"'a'", "// c\n1", "/* c */1", "[1] // c", "\uFEFF1", "\u00a01", "\f1", `"a""b"`, `["a"`, `{"a":"b"`,
	} {
		if got, ok := Indent(src); ok || got != "" {
			t.Errorf("%q is no JSON, got %q", src, got)
		}
		if json.Valid([]byte(src)) {
			t.Errorf("%q is JSON to encoding/json", src)
		}
	}
}

// TestDeepJSONStaysInProportion: indented in full, 18 kB nested 9,000 deep would be 160 MB; encoding/json takes 1.4 GB
// for it. Nothing of the text may be lost for it.
func TestDeepJSONStaysInProportion(t *testing.T) {
	for _, depth := range []int{1, 100, 9_000, 1_000_000} {
		for _, unit := range [][2]string{{"[", "]"}, {`{"k":`, "}"}} {
			src := strings.Repeat(unit[0], depth) + "7" + strings.Repeat(unit[1], depth)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, ok := Indent(src)
			runtime.ReadMemStats(&after)
			if !ok {
				t.Fatalf("%q %d deep is JSON", unit[0], depth)
			}
			if len(got) > maxGrowth*len(src)+growthSlack {
				t.Errorf("%q %d deep: %d bytes from %d", unit[0], depth, len(got), len(src))
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(3*maxGrowth*len(src)+3*growthSlack) {
				t.Errorf("%q %d deep: %d bytes of memory for %d of JSON", unit[0], depth, used, len(src))
			}
			if packed := strings.NewReplacer("\n", "", " ", "").Replace(got); packed != src {
				t.Errorf("%q %d deep: the text is another one", unit[0], depth)
			}
		}
	}
}

func TestOrdinaryJSONIsAlwaysIndented(t *testing.T) {
	digits := strings.Repeat("1,2,3,4,5,6,7,8,", 4000) + "9"
	src := "[[[[[[" + digits + "]]]]]]"
	got, ok := Indent(src)
	if !ok || !strings.Contains(got, "\n            9\n") {
		t.Errorf("a list of digits six levels deep lost its indentation")
	}
}

func FuzzIndentJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e-3,{}],"b":"\u00e9\n"}`, `[[[[[]]]]]`, `"x`, `{"a":1,}`, " null ", `[1 ,2 , "a\"b"]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got, ok := Indent(src)
		if strings.Count(src, "[")+strings.Count(src, "{") < 9_000 && ok != json.Valid([]byte(src)) {
			t.Fatalf("%q: JSON is %v, encoding/json disagrees", src, ok)
		}
		if !ok {
			return
		}
		if len(got) > maxGrowth*len(src)+growthSlack {
			t.Fatalf("%d bytes from %d", len(got), len(src))
		}
		var packed, repacked, indented bytes.Buffer
		if json.Compact(&packed, []byte(src)) != nil || json.Compact(&repacked, []byte(got)) != nil {
			return // deeper than encoding/json goes
		}
		if !bytes.Equal(packed.Bytes(), repacked.Bytes()) {
			t.Fatalf("%q became %q", src, got)
		}
		if err := json.Indent(&indented, packed.Bytes(), "", "  "); err == nil && len(indented.Bytes()) <= growthSlack && got != indented.String() {
			t.Fatalf("%q: got %q, want %q", src, got, indented.String())
		}
	})
}

func BenchmarkIndentJSON(b *testing.B) {
	unit := `{"id":12345678901234567890,"name":"the harbour","tags":["a","b",{"deep":[1,2,3.5e7]}],"ok":true,"none":null},`
	src := "[" + strings.Repeat(unit, 5000) + "1]"
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := Indent(src); !ok {
				b.Fatal("not JSON")
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			var out bytes.Buffer
			if err := json.Indent(&out, []byte(src), "", "  "); err != nil {
				b.Fatal(err)
			}
		}
	})
}
