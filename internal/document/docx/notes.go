package docx

import (
	"strconv"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// maxNotes is how many notes a document may refer to.
const maxNotes = 50_000

// reference refers to a note, which gets the next number.
func (r *reader) reference(p *paragraph, kind, id string) error {
	if r.quiet > 0 || !r.archive.Has(r.rels.Part(kind+"s")) {
		return nil
	}
	ref := noteRef{kind, id}
	label, known := r.labels[kind+id]
	if !known {
		r.notes = append(r.notes, ref)
		label = strconv.Itoa(len(r.notes))
		r.labels[kind+id] = label
		if len(r.notes) > maxNotes {
			return document.Fail(document.TooLarge, "more than %d notes", maxNotes)
		}
	}
	return r.add(p, prose.Run{Kind: prose.Mark, Text: label})
}

// readNotes writes the notes that were referred to: footnotes, then endnotes.
func (r *reader) readNotes() error {
	if len(r.notes) == 0 {
		return nil
	}
	main := r.rels
	for _, kind := range []string{"footnote", "endnote"} {
		part := main.Part(kind + "s")
		if part == "" || !r.archive.Has(part) {
			continue
		}
		x, err := r.part(part)
		if err != nil {
			return err
		}
		if r.rels, err = r.relations(part); lost(err) != nil {
			return err
		}
		r.quiet++
		err = x.Children(func(name string) error {
			if name != kind {
				return nil
			}
			label, ok := r.labels[kind+x.Attr("id")]
			if !ok {
				return nil
			}
			delete(r.labels, kind+x.Attr("id"))
			var blocks []prose.Block
			held := r.w.Spent()
			err := r.blocks(x, func(b *prose.Block) error {
				blocks = append(blocks, *b)
				return r.w.Spend(1)
			})
			r.w.Release(held)
			if err != nil {
				return err
			}
			return r.w.Note(label, blocks)
		})
		r.quiet--
		if err != nil {
			return err
		}
	}
	return nil
}
