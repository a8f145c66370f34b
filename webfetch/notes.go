package webfetch

import (
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/pagetext"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// The notes that stand between header and wrapper. Their words are ours; names in them went through untrusted.Quote.

// pageNotes are the notes of a page as a model is told them: what makes it thin, then its own.
func pageNotes(p *Page, able Abilities) []Note {
	notes := make([]Note, 0, len(p.Thin)+len(p.Notes))
	for _, t := range p.Thin {
		notes = append(notes, thinNote(t, able))
	}
	for _, n := range p.Notes {
		switch {
		case n.Kind == "thin" && len(p.Thin) > 0: // told already, in the words for this agent's tools
			continue
		case n.Kind == "main" && able.MainContent:
			n.Fact += "; content=full shows the rest"
		}
		notes = append(notes, n)
	}
	return notes
}

// thinNote says why a page is hardly the one that was asked for, and the way on.
func thinNote(t Thin, able Abilities) Note {
	fact := t.Kind + ": " + t.Fact
	switch {
	case t.Kind == "thin_extract": // already mended
	case able.Browser && (t.Kind == "js_shell" || t.Kind == "consent_wall" || t.Kind == "bot_challenge"):
		fact += "; browser_navigate opens it in a browser"
	case able.WebSearch && t.Kind == "soft_404":
		fact += "; check the address, or look with web_search where the page went"
	default:
		fact += "; " + wayOn(t.Kind)
	}
	return Note{Kind: "thin", Fact: fact, Data: map[string]any{"thin": t.Kind}}
}

// comeBackNote tells when the site of a page that is an answer of failure said to come back, as an error without a page does.
func comeBackNote(status int, wait time.Duration) Note {
	seconds := int(wait / time.Second)
	return Note{
		Kind: "retry_after",
		Fact: fmt.Sprintf("the site answered %d and asks to come back after %d s", status, seconds),
		Data: map[string]any{"retry_after_seconds": seconds},
	}
}

// findNote tells where the phrase stands. offset is where the search began.
func findNote(m pagetext.Matches, phrase string, offset int) Note {
	quoted := untrusted.Quote(phrase)
	if m.Total == 0 {
		return Note{
			Kind: "no_match",
			Fact: fmt.Sprintf("%s does not stand at or after offset %d", quoted, offset),
			Data: map[string]any{"from": offset},
		}
	}
	fact := fmt.Sprintf("%s at %d and nowhere after it", quoted, m.First.Offset)
	if len(m.Further) > 0 {
		offsets := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Further), " ", ", "), "[]")
		fact = quoted + " also at " + offsets
		if rest := m.Total - 1 - len(m.Further); rest > 0 {
			fact += fmt.Sprintf(" and %d more", rest)
		}
	}
	return Note{Kind: "matches", Fact: fact, Data: map[string]any{
		"first": m.First.Offset, "further": m.Further, "total": m.Total,
	}}
}

// droppedNote tells of the characters that untrusted.DropInvisible left out.
func droppedNote(dropped int) Note {
	return Note{
		Kind: "dropped",
		Fact: fmt.Sprintf("%d invisible direction or tag characters left out", dropped),
		Data: map[string]any{"count": dropped},
	}
}
