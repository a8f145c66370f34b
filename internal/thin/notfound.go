// How headings and titles say that a page is not there.

package thin

import (
	"regexp"
	"strings"
	"sync"
)

// notFoundLine matches a whole line: an exclamation or a number, a form of "not found", an exclamation or a number.
var notFoundLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + notFoundSigh + `[\s,.:!–—-]*)*` +
		`(?:(?:error |code )?404(?: error| fehler)?|(?:404[\s,.:!–—-]*)?(?:error[\s,.:!–—-]*)?(?:` + strings.Join(notFoundForms, "|") + `))` +
		`(?:[\s,.:!–—-]*(?:\(?404\)?|error|sorry))*$`)
})

const notFoundSigh = `(?:http error|error|fehler|erreur|errore|erro|błąd|ошибка|http|status|ooo?ps|uh[- ]oh|whoops|sorry|hmm+|oh no|ups)`

// notFoundForms are written one language a line. What is not found has to be a page or a like thing: a search
// without results, or a lost umbrella, is none.
var notFoundForms = []string{
	// English
	`not found|nothing (?:was )?found(?: here)?|there(?:'s| is) nothing here`,
	`(?:the |this |that |your |requested )*` + notFoundNoun + ` ?` + notFoundWanted + `? ?` + notFoundVerb,
	`(?:we |i )?(?:can't|cannot|couldn't|could not|can not|are unable to|were unable to) (?:seem to )?(?:find|locate) (?:the |that |this |your |a )?(?:web ?)?page.{0,40}`,
	`page not (?:found|here|exist)|no such (?:page|file|article)|that page can't be found`,
	// German
	`(?:die |diese |angeforderte |gesuchte )*(?:seite|datei|inhalt|artikel)(?: wurde| konnte| kann| ist| existiert)?(?: leider)? nicht(?: gefunden(?: werden)?| vorhanden| verfügbar| mehr verfügbar)?|nicht gefunden`,
	// Dutch
	`(?:de |deze )?pagina (?:is |kan |kon |werd )?(?:niet (?:gevonden|bestaat|worden gevonden)|bestaat niet.{0,12})|niet gevonden`,
	// Swedish, Danish, Norwegian, Finnish
	`sidan (?:hittades inte|kunde inte hittas|finns inte.{0,12}|saknas)`,
	`siden? (?:blev |ble |kunne |er |eksisterer )?ikke(?: blive| bli)? ?(?:fundet|funnet|findes)?`,
	`sivua ei (?:löytynyt|löydy)`,
	// French
	`(?:la |cette )?page (?:que vous (?:cherchez|recherchez) )?(?:est introuvable|n'existe pas.{0,12}|introuvable|non trouvée|n'a pas été trouvée|inexistante|demandée (?:est introuvable|n'existe pas))`,
	// Spanish, Portuguese
	`(?:la |esta |a )?página (?:que (?:buscas|busca) )?(?:no (?:encontrada|existe|disponible|se (?:encuentra|ha encontrado|encontró|pudo encontrar))|não (?:encontrada|existe|foi encontrada))`,
	`no se (?:encontró|ha encontrado|encuentra) la página.{0,20}`,
	// Italian, Romanian
	`(?:la )?pagina (?:non (?:trovata|esiste|è stata trovata|disponibile)|nu (?:a fost găsită|există)|inesistente)`,
	// Polish, Czech, Slovak, Croatian
	`(?:ta )?strona nie (?:została (?:znaleziona|odnaleziona)|istnieje|znaleziona)|nie znaleziono strony`,
	`stránka (?:nenalezena|nebyla nalezena|neexistuje|nebola nájdená|sa nenašla)|stranica nije pronađena`,
	// Russian, Ukrainian, Bulgarian
	`страница не (?:найдена|существует)|(?:такой )?страницы не существует|сторінку не знайдено|страницата не (?:е намерена|съществува)`,
	// Hungarian, Greek, Turkish, Vietnamese, Indonesian
	`az? oldal nem található|η σελίδα δεν (?:βρέθηκε|υπάρχει)|(?:aradığınız )?sayfa bulunamadı|không tìm thấy trang|trang không tồn tại|halaman tidak ditemukan`,
	// Chinese
	`(?:抱歉[，,]?)?(?:您(?:访问|查找|要找)的)?(?:页面|网页|頁面|網頁)(?:不存在|未找到|找不到|没有找到|已删除|不見了)|(?:找不到|未找到)(?:该|此|您.{0,6})?(?:页面|网页|頁面|網頁)`,
	// Japanese, Korean
	`(?:お探しの|指定された|ご指定の)?ページ(?:は|が)?(?:見つかりません(?:でした)?|存在しません)|(?:요청하신 )?페이지를 찾을 수 없습니다`,
	// Arabic, Hebrew, Thai
	`الصفحة غير موجودة|لم يتم العثور على الصفحة|הדף לא נמצא|העמוד לא נמצא|ไม่พบหน้า.{0,20}`,
	`(?:عذر[اًا]{1,2}[،,]? )?(?:هذه )?الصفحة (?:المطلوبة |التي تبحث عنها )?غير (?:موجودة|متوفرة|متاحة)|لم نعثر على (?:هذه )?الصفحة.{0,24}`,
	`(?:הדף|העמוד)(?: המבוקש| שחיפשת)? (?:לא נמצא|לא קיים|אינו קיים)`,
	// Persian, Hindi
	`صفحه(?: ?[یٔ])?(?: مورد نظر| درخواستی)?(?: شما)? (?:یافت نشد|پیدا نشد|وجود ندارد)|(?:पृष्ठ|पेज) (?:नहीं मिला|मौजूद नहीं है|उपलब्ध नहीं है)`,
}

// The English sentence in parts: the thing, what one wanted of it, that it is not there.
const (
	notFoundNoun   = `(?:web ?page|page|file|article|product|item|post|document|story|resource|content|url|address|listing|job|profile|topic|thread|entry|link)s?`
	notFoundWanted = `(?:(?:that )?you (?:are |were |have )?(?:looking for|requested|tried to (?:reach|view|open)))`
	notFoundVerb   = `(?:was |were |is |has |could |can |does |do )?(?:(?:not|cannot|can't|couldn't|wasn't|isn't|doesn't) ?(?:be )?(?:found|exist|here|seem to exist|available)|no longer (?:exists|available|here)|missing|gone|expired|(?:been )?(?:removed|deleted|moved))`
)

// saysNotFound looks at a line as a whole: a longer one that holds the words speaks of something else.
func saysNotFound(line string) bool {
	line = strings.Trim(line, " .!?:…-–—|•·#()[]\"'¡¿。！")
	return line != "" && countWords(line) <= 14 && notFoundLine().MatchString(line)
}
