// Dollars of prices in a page with formulas, and formulas side by side: what a parser that knows math makes of them.

package markdown

import "testing"

func TestDollarsBesideFormulasAreText(t *testing.T) {
	const n = `<math><mi>n</mi></math>`
	for page, want := range map[string]string{
		`<p>costs $5 for ` + n + ` or $6</p>`:                                                                    `costs \$5 for $n$ or \$6`,
		`<p>costs $5 or $6</p><p>` + n + `</p><p>$7</p>`:                                                         "costs \\$5 or \\$6\n\n$n$\n\n$7",
		`<p>costs $5 or $6</p><p>$7</p>`:                                                                         "costs $5 or $6\n\n$7",
		`<p>$$</p><math display=block><mi>n</mi></math>`:                                                         "\\$\\$\n\n$$\nn\n$$",
		`<h2>$5, $6</h2><table><tr><th>$7<th>$8 $9</table><p><code>$a $b</code> $c</p>` + n:                      "## \\$5, \\$6\n\n| $7 | \\$8 \\$9 |\n| --- | --- |\n\n`$a $b` $c\n\n$n$",
		`<p>see https://a.example/$b$c and $1 <a href="https://a.example/($d$e)">$2</a> <b>$3</b><br>$4</p>` + n: "see <https://a.example/$b$c> and \\$1 [\\$2](https://a.example/($d$e)) **\\$3**\\\n\\$4\n\n$n$",
		`<p>see https://a.example/$b$c <a href="https://a.example/$d">https://a.example/$d</a> for ` + n:         "see <https://a.example/$b$c> <https://a.example/$d> for $n$",
		`<table><tr><td>$1 $2</table><table><tr><td>$3 $4<td>a<tr><td>b<td>$5</table><p>` + n:                    "\\$1 \\$2\n\n| | |\n| --- | --- |\n| \\$3 \\$4 | a |\n| b | $5 |\n\n$n$",
		`<p><code>$a</code> $b ` + n + `</p>`:                                                                    "`$a` \\$b $n$",
		`<p>` + n + n + `</p>`:                                                                                   `$n$ $n$`,
		`<p>` + n + ` <a href="https://a.example/">$1</a>`:                                                       `$n$ [\$1](https://a.example/)`,
		`<p><b>$5</b>` + n + `</p>`:                                                                              `**\$5**$n$`,
	} {
		if got := convert(t, page); got != want {
			t.Errorf("%s\ngot  %q\nwant %q", page, got, want)
		}
		stable(t, page)
	}
}

// A number that one element begins and another one ends is no list.
func TestNumbersInPartsBeginNoList(t *testing.T) {
	for page, want := range map[string]string{
		`<p><span>1</span>. a</p>`:         `1\. a`,
		`<p>1<span>2</span><i></i>) a`:     `12\) a`,
		`<p>1<span>2. </span>a`:            `12\. a`,
		`<p><b>1</b>. a</p>`:               `**1**. a`,
		`<p>1234567890<span>. a</span>`:    `1234567890. a`,
		`<p>x 1<span>. a</span>`:           `x 1. a`,
		`<p>1<span>.5 a</span>`:            `1.5 a`,
		`<p>a<br>3<span>.</span> b`:        "a\\\n3\\. b",
		`<h2>1<span>. a</span></h2>`:       `## 1. a`,
		`<a href="/x">1</a><p>2</p>`:       "[1](https://docs.example/x)\n\n2",
		`<p><a href="/n"><sup>1</sup></a>`: `[\^1](https://docs.example/n)`,
	} {
		if got := convert(t, page); got != want {
			t.Errorf("%s\ngot  %q\nwant %q", page, got, want)
		}
	}
}
