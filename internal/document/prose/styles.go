package prose

import "strings"

// headings is how styles of headings are called, in lower case and without their number.
var headings = map[string]bool{
	"heading": true, "überschrift": true, "titre": true, "título": true, "titulo": true, "titolo": true, "kop": true, "rubrik": true, "overskrift": true,
	"otsikko": true, "nagłówek": true, "nadpis": true, "címsor": true, "naslov": true, "titlu": true, "başlık": true, "fyrirsögn": true, "pealkiri": true,
	"virsraksts": true, "antraštė": true, "encabezado": true, "intestazione": true, "cabeçalho": true, "заголовок": true, "заглавие": true, "επικεφαλίδα": true,
	"כותרת": true, "عنوان": true, "标题": true, "標題": true, "見出し": true, "제목": true, "หัวเรื่อง": true, "tiêu đề": true, "judul": true,
	"berschrift": true, // as Word's ids have it
}

// HeadingLevel is the level of the headings that a style is for, by its name in lower case and in any of many languages;
// 0 for a style that is for none.
func HeadingLevel(name string) int {
	n := len(name) - 1
	if n < 1 || name[n] < '1' || name[n] > '9' || !headings[strings.TrimSpace(name[:n])] {
		return 0
	}
	return int(name[n] - '0')
}
