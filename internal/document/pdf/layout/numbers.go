package layout

import "strconv"

// dropLineNumbers takes the numbers off that count a text's lines in its margin, as manuscripts and laws have them.
// rows go from top to bottom.
func dropLineNumbers(all []row) []row {
	for _, right := range [2]bool{false, true} {
		if at := lineNumbers(all, right); at != nil {
			all = without(all, at, right)
		}
	}
	return all
}

// lineNumbers are the rows whose first or last word is a line's number, nil where the page has none: they count up by
// one step, stand beside all else, and what they stand beside is lines of a text.
func lineNumbers(all []row, right bool) map[int]bool {
	const least = 8
	at := map[int]bool{}
	last, step := 0, 0
	edge := float32(-1) // where the numbers end that is nearest to the text
	letters, rows := 0, 0
	for i := range all {
		r := &all[i]
		if r.words[0].table != nil {
			continue
		}
		w := &r.words[0]
		if right {
			w = &r.words[len(r.words)-1]
		}
		n, err := strconv.Atoi(plainText([]word{*w}))
		if err != nil || n <= 0 || len(w.inks) > 5 || last > 0 && n <= last || edge >= 0 && abs(inner(w, right)-edge) > 1.2*w.size {
			continue
		}
		if last > 0 && step > 0 && n-last != step {
			if len(at) >= least {
				continue
			}
			at, step, letters, rows = map[int]bool{}, 0, 0, 0 // not yet the numbers
		} else if last > 0 {
			step = n - last
		}
		last = n
		at[i] = true
		if edge < 0 {
			edge = inner(w, right)
		}
		if len(r.words) > 1 {
			letters += lettersOf([]row{*r})
			rows++
		}
	}
	if len(at) < least || step != 1 && step != 5 && step != 10 || rows > 0 && letters < 20*rows || step == 1 && len(at)*2 < len(all) {
		return nil
	}
	// Nothing else stands where they do, or as near as a word of theirs would.
	for i := range all {
		words := all[i].words
		if at[i] {
			if right {
				words = words[:len(words)-1]
			} else {
				words = words[1:]
			}
			if len(words) == 0 {
				continue
			}
		} else if i == 0 || i == len(all)-1 {
			continue // a running line
		}
		e := extent(words)
		if right && e.X1 > edge-0.6*all[i].size || !right && e.X0 < edge+0.6*all[i].size {
			return nil
		}
	}
	return at
}

// inner is where a number ends that stands beside a text.
func inner(w *word, right bool) float32 {
	if right {
		return w.X0
	}
	return w.X1
}

// without are the rows without the numbers in some of them.
func without(all []row, at map[int]bool, right bool) []row {
	var out []row
	for i, r := range all {
		switch {
		case !at[i]:
			out = append(out, r)
		case len(r.words) == 1:
		case right:
			out = append(out, r.of(r.words[:len(r.words)-1]))
		default:
			out = append(out, r.of(r.words[1:]))
		}
	}
	return out
}
