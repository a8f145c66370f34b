// Formats that files name by a number alone.

package numfmt

// Builtin gives the code of a format that every spreadsheet program knows. What depends on the country is as in the United
// States, or plain where it exists in East Asia or Thailand only. Unknown numbers are General.
func Builtin(id int) string {
	switch id {
	case 1, 59:
		return "0"
	case 2, 60:
		return "0.00"
	case 3, 61:
		return "#,##0"
	case 4, 62:
		return "#,##0.00"
	case 5:
		return `"$"#,##0_);\("$"#,##0\)`
	case 6:
		return `"$"#,##0_);[Red]\("$"#,##0\)`
	case 7:
		return `"$"#,##0.00_);\("$"#,##0.00\)`
	case 8:
		return `"$"#,##0.00_);[Red]\("$"#,##0.00\)`
	case 9, 67:
		return "0%"
	case 10, 68:
		return "0.00%"
	case 11:
		return "0.00E+00"
	case 12, 69:
		return "# ?/?"
	case 13, 70:
		return "# ??/??"
	case 14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58, 71, 72, 73, 74, 81:
		return "yyyy-mm-dd"
	case 18, 19, 20, 21, 32, 33, 34, 35, 75, 76:
		return map[bool]string{true: "h:mm", false: "h:mm:ss"}[id == 18 || id == 20 || id == 32 || id == 34 || id == 75]
	case 22, 77:
		return "yyyy-mm-dd h:mm"
	case 37:
		return `#,##0_);\(#,##0\)`
	case 38:
		return `#,##0_);[Red]\(#,##0\)`
	case 39:
		return `#,##0.00_);\(#,##0.00\)`
	case 40:
		return `#,##0.00_);[Red]\(#,##0.00\)`
	case 41:
		return `_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)`
	case 42:
		return `_("$"* #,##0_);_("$"* \(#,##0\);_("$"* "-"_);_(@_)`
	case 43:
		return `_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)`
	case 44:
		return `_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)`
	case 45, 78:
		return "mm:ss"
	case 46, 79:
		return "[h]:mm:ss"
	case 47, 80:
		return "mm:ss.0"
	case 48:
		return "##0.0E+0"
	case 49:
		return "@"
	}
	return "General"
}
