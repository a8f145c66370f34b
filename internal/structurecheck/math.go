// Math in Markdown: $…$ and $$…$$ within a line, and blocks fenced by $$.

package structurecheck

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var (
	kindMathInline = ast.NewNodeKind("MathInline")
	kindMathBlock  = ast.NewNodeKind("MathBlock")
)

type mathInline struct {
	ast.BaseInline
	tex string
}

func (*mathInline) Kind() ast.NodeKind { return kindMathInline }

func (n *mathInline) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

type mathBlock struct {
	ast.BaseBlock
	fence int // number of dollars that opened it
}

func (*mathBlock) Kind() ast.NodeKind { return kindMathBlock }
func (*mathBlock) IsRaw() bool        { return true }

func (n *mathBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mathInlineParser reads a run of dollars, and the text up to the next run of the same length.
type mathInlineParser struct{}

func (mathInlineParser) Trigger() []byte { return []byte{'$'} }

func (mathInlineParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, start := block.PeekLine()
	opener := dollars(line)
	block.Advance(opener)
	row, pos := block.Position()
	var tex strings.Builder
	for {
		line, _ := block.PeekLine()
		if line == nil {
			block.SetPosition(row, pos)
			return ast.NewTextSegment(start.WithStop(start.Start + opener))
		}
		for i := 0; i < len(line); i++ {
			if line[i] != '$' {
				continue
			}
			n := dollars(line[i:])
			if n == opener {
				tex.Write(line[:i])
				block.Advance(i + n)
				return &mathInline{tex: tex.String()}
			}
			i += n - 1
		}
		tex.Write(line)
		block.AdvanceLine()
	}
}

// mathBlockParser reads lines between two lines that begin with two or more dollars.
type mathBlockParser struct{}

func (mathBlockParser) Trigger() []byte { return []byte{'$'} }

func (mathBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 {
		return nil, parser.NoChildren
	}
	fence := dollars(line[pos:])
	// A dollar later in the line makes it math within a paragraph, not a block.
	if fence < 2 || bytes.IndexByte(line[pos+fence:], '$') >= 0 {
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()
	return &mathBlock{fence: fence}, parser.NoChildren
}

func (mathBlockParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	trimmed := bytes.TrimLeft(line, " ")
	if got := dollars(trimmed); got >= n.(*mathBlock).fence && util.IsBlank(trimmed[got:]) {
		reader.AdvanceToEOL()
		return parser.Close
	}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}

func (mathBlockParser) CanInterruptParagraph() bool { return true }

func (mathBlockParser) CanAcceptIndentedLine() bool { return false }

func dollars(line []byte) int {
	n := 0
	for n < len(line) && line[n] == '$' {
		n++
	}
	return n
}
