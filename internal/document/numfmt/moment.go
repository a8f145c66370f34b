// Dates, times of day and spans of time.

package numfmt

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// lastDay is 31 December 9999, the last date that spreadsheets know, as a day since 1900.
const lastDay = 2958465

// showMoment shows a number as the section's date or time; false for a number that is none.
func (s *section) showMoment(v float64, since1904 bool) (string, bool) {
	if s.has(elapsedHours) || s.has(elapsedMinutes) || s.has(elapsedSeconds) {
		if math.Abs(v) > lastDay {
			return "", false
		}
		return s.showSpan(v), true
	}
	if since1904 {
		v += 1462
	}
	if v < 0 || v >= lastDay+1 {
		return "", false
	}
	digits := 0
	for _, t := range s.tokens {
		if t.kind == fraction {
			digits = t.count
		}
	}
	day, ms := parts(v, digits)
	date := s.showDate(day)
	clock := s.showClock(ms, digits)
	switch {
	case date == "" && clock == "": // an era's name alone, or no part that says anything
		return isoDate(day), true
	case date == "":
		return clock, true
	case clock == "":
		return date, true
	case day == 0: // a time of day that some format gives a date to
		return clock, true
	}
	return date + " " + clock, true
}

// parts gives whole days, and the milliseconds of the day rounded to so many digits of a second.
func parts(v float64, digits int) (day int, ms int) {
	unit := 1000
	for range digits {
		unit /= 10
	}
	const dayMS = 24 * 60 * 60 * 1000
	day = int(math.Floor(v))
	ms = int(math.Round((v-math.Floor(v))*float64(dayMS/unit))) * unit
	if ms >= dayMS {
		day, ms = day+1, ms-dayMS
	}
	return day, ms
}

// isoDate is a day since 1900 by the reckoning that takes 1900 for a leap year, which every spreadsheet of this kind does.
func isoDate(day int) string {
	switch {
	case day == 60:
		return "1900-02-29"
	case day == 0:
		return "1900-01-00"
	}
	y, m, d := civil(day).Date()
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d)
}

func civil(day int) time.Time {
	if day > 60 {
		day--
	}
	return time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC).AddDate(0, 0, day)
}

// ISO makes a date, a time of day or both, as XML Schema spells them, what the other moments look like: without a time of
// midnight, without seconds where there are none. What is none of these comes back as it is.
func ISO(s string) string {
	s = strings.TrimSpace(s)
	date, clock, both := strings.Cut(s, "T")
	if !both && strings.Contains(s, ":") && !strings.Contains(s, "-") {
		date, clock = "", s
	}
	if date != "" && (len(date) != 10 || date[4] != '-' || date[7] != '-') {
		return s
	}
	clock, fraction, _ := strings.Cut(strings.TrimSuffix(clock, "Z"), ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		clock = strings.TrimSuffix(clock, ":00")
		if len(clock) == 2 {
			clock += ":00"
		}
	} else {
		clock += "." + fraction
	}
	switch {
	case date == "":
		return clock
	case clock == "" || clock == "00:00":
		return date
	}
	return date + " " + clock
}

// ISO shows a moment that is spelled as XML Schema has it, as far as the format shows one.
func (f *Format) ISO(s string) string {
	if !f.Moments() {
		return ISO(s)
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly, time.TimeOnly, "15:04"} {
		at, err := time.Parse(layout, strings.TrimSuffix(strings.TrimSpace(s), "Z"))
		if err != nil {
			continue
		}
		clock := at.Sub(at.Truncate(24*time.Hour)).Hours() / 24
		day := 0.0
		if at.Year() > 0 {
			day = at.Truncate(24*time.Hour).Sub(civil(0)).Hours() / 24
			if day >= 60 {
				day++ // of the year that is no leap year
			}
			if day < 1 {
				break
			}
		}
		if shown := f.Number(day+clock, false); shown.Moment {
			return shown.Text
		}
	}
	return ISO(s)
}

// showDate is the section's date of a day; empty if the section has no date. A format that shows one part only, such as the
// weekday, shows that.
func (s *section) showDate(day int) string {
	parts := map[kind]bool{}
	for _, t := range s.tokens {
		switch t.kind {
		case yearPart, monthPart, dayPart, weekdayPart:
			parts[t.kind] = true
		}
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) > 1 || parts[dayPart]:
		return isoDate(day)
	case parts[yearPart]:
		return isoDate(day)[:4]
	case parts[monthPart]:
		return civil(day).Month().String()
	}
	return time.Weekday((day + 6) % 7).String() // as spreadsheets count, of which day 1 is a Sunday
}

// showClock is the section's time of day; empty if it has none.
func (s *section) showClock(ms, digits int) string {
	h, m, sec := s.has(hourPart), s.has(minutePart), s.has(secondPart)
	all := ms / 1000
	var b strings.Builder
	switch {
	case s.has(noon) && !h && !m && !sec: // half of a day alone
		if all < 12*60*60 {
			return "AM"
		}
		return "PM"
	case h || s.has(noon) && m:
		fmt.Fprintf(&b, "%02d:%02d", all/3600, all/60%60)
		if sec {
			fmt.Fprintf(&b, ":%02d", all%60)
		}
	case m && sec:
		fmt.Fprintf(&b, "%02d:%02d", all/60%60, all%60)
	case m:
		fmt.Fprintf(&b, "%02d", all/60%60)
	case sec:
		fmt.Fprintf(&b, "%02d", all%60)
	default:
		return ""
	}
	if sec && digits > 0 {
		fmt.Fprintf(&b, ".%03d", ms%1000)
		return b.String()[:b.Len()-3+digits]
	}
	return b.String()
}

// showSpan shows a span of time as the section spells it.
func (s *section) showSpan(v float64) string {
	digits := 0
	for _, t := range s.tokens {
		if t.kind == fraction {
			digits = t.count
		}
	}
	day, ms := parts(math.Abs(v), digits)
	all := day*24*60*60 + ms/1000
	var b strings.Builder
	if v < 0 && (all > 0 || ms > 0) {
		b.WriteByte('-')
	}
	for _, t := range s.tokens {
		switch t.kind {
		case literal:
			b.WriteString(t.text)
		case elapsedHours:
			fmt.Fprintf(&b, "%0*d", min(t.count, 8), all/3600)
		case elapsedMinutes:
			fmt.Fprintf(&b, "%0*d", min(t.count, 8), all/60)
		case elapsedSeconds:
			fmt.Fprintf(&b, "%0*d", min(t.count, 8), all)
		case hourPart:
			h := all / 3600
			if !s.has(elapsedHours) {
				h %= 24
			}
			fmt.Fprintf(&b, "%0*d", min(t.count, 2), h)
		case minutePart, monthPart:
			fmt.Fprintf(&b, "%0*d", min(t.count, 2), all/60%60)
		case secondPart:
			n := all
			if !s.has(elapsedSeconds) {
				n %= 60
			}
			fmt.Fprintf(&b, "%0*d", min(t.count, 2), n)
		case fraction:
			b.WriteString(("." + fmt.Sprintf("%03d", ms%1000))[:1+t.count])
		case dayPart:
			fmt.Fprintf(&b, "%d", all/86400)
		}
	}
	return strings.TrimSpace(b.String())
}
