package maincontent

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const prose = "<p>The harbour keeps a book of every ship that has ever come in, and the oldest line in it is four hundred years old; it names a hulk that brought salt and took rope, and the toll that was paid for both.</p>" +
	"<p>Whoever wants to see it asks at the gate, where a warden has the key, wears white gloves to turn the leaves, and knows by heart on which of them the ships of each town are to be found.</p>" +
	"<p>The first pages are of vellum. They have darkened, but what was written with oak gall stands as clear as on the day on which it dried, and the seals that hang from the spine are whole but for two.</p>" +
	"<p>In the great flood the book was carried up into the tower by the clerk, who went back for the money and was drowned. His name is the only one in it that is no ship's and no master's.</p>" +
	"<p>Since then it lies on the first floor. Insurers, scholars and the grandchildren of sailors write to ask for a line of it, and each of them gets an answer within the month, as the founders wished.</p>"

const newsHead = `<head><title>t</title><meta property="og:type" content="article"><link rel=canonical href="https://news.example.org/quay/1"></head><body>`

func TestFurtherStoriesWithinAnArticle(t *testing.T) {
	page := func(between, after string) string {
		return newsHead + siteHead + `<main><article><h1>The book of the harbour</h1>` +
			prose + story + between + prose + after + `</article></main>` + siteFoot
	}
	for _, c := range []struct {
		name, between, after, text string
		kept                       bool
	}{
		{"a line that is a link to another page", `<p><b><a href="https://www.example.org/quay/2">Harbour master leaves after forty years</a></b></p>`, "", "Harbour master leaves", false},
		{"with a label before it", `<p>Lesen Sie auch: <a href="/quay/2">Der Hafenmeister geht nach vierzig Jahren</a></p>`, "", "Hafenmeister", false},
		{"a list under a label", `<h4>More:</h4><ul><li><a href=/2>Harbour master leaves after forty years</a></li><li><a href=/3>The old crane is moved to the museum</a></li></ul>`, "", "old crane", false},
		{"a link around the paragraph", `<a href="/quay/2"><p>Harbour master leaves after forty years</p></a>`, "", "Harbour master", false},
		{"a list after the last paragraph", "", `<h3>More from the quay</h3><ul><li><a href=/2>Harbour master leaves after forty years</a></li><li><a href=/3>The old crane is moved to the museum</a></li><li>How <a href=/4>the tide table is reckoned each year</a></li></ul>`, "tide table", false},
		{"a link to another site is the article's own", `<p><a href="https://archive.example.net/book">The whole book, page for page, in pictures</a></p>`, "", "page for page", true},
		{"a link into the page stays", `<p><a href="#second">See the second part of this story below</a></p>`, "", "second part", true},
		{"a link within a sentence stays", `<p>He told us of it in <a href="/quay/2">the summer that he left the harbour</a>, which was wet and cold throughout.</p>`, "", "that he left", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := shown(t, page(c.between, c.after))
			if strings.Contains(got, c.text) != c.kept {
				t.Errorf("%q is kept: %v; want %v: %s", c.text, !c.kept, c.kept, got)
			}
			if c.name == "a list under a label" && strings.Contains(got, "More:") {
				t.Error("the label is left alone")
			}
		})
	}
}

func TestLabelsOfAdvertisements(t *testing.T) {
	got := shown(t, newsHead+siteHead+`<main><article><h1>The book of the harbour</h1>`+prose+story+`<div class="ad ad--mid"><div>Advertisement</div></div>`+prose+`</article></main>`+siteFoot)
	if strings.Contains(got, "Advertisement") {
		t.Error("it is kept")
	}
}

// TestRecipesAreWhole: a card below a long story is what a recipe is read for.
func TestRecipesAreWhole(t *testing.T) {
	const card = `<section class=card><h3>Ingredients</h3><ul><li>8 ripe pears</li><li>1 lemon</li><li>6 tbsp pectin</li><li>1 tsp cinnamon</li></ul>
		<h3>Steps</h3><ol><li>Peel the pears.</li><li>Boil them with the lemon.</li><li>Fill the jars while it is hot.</li></ol></section>`
	const says = `<script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"WebSite","name":"Jam"},{"@type":["Recipe"],"name":"Jam",
		"recipeIngredient":["8 ripe pears","1 lemon","6 tbsp pectin","1 tsp cinnamon"],
		"recipeInstructions":[{"@type":"HowToSection","name":"Jam","itemListElement":[{"@type":"HowToStep","text":"Peel the pears."},{"@type":"HowToStep","text":"Boil them with the lemon."},{"@type":"HowToStep","text":"Fill the jars while it is hot."}]}]}]}</script>`
	around := siteHead + "<main><article><h1>Jam</h1>" + prose + story + prose
	for name, page := range map[string]string{
		"declared":  says + around + card + "</article></main>" + siteFoot,
		"microdata": around + strings.NewReplacer("<ul>", `<ul itemprop="recipeIngredient">`, "<ol>", `<ol itemprop="recipeInstructions">`).Replace(card) + "</article></main>" + siteFoot,
		"by class":  around + strings.NewReplacer("<ul>", `<ul class="jam-ingredients-list">`, "<ol>", `<ol itemprop="recipeInstructions">`).Replace(card) + "</article></main>" + siteFoot,
	} {
		got := shown(t, page)
		for _, text := range []string{"Ingredients", "8 ripe pears", "1 lemon", "1 tsp cinnamon", "Steps", "Peel the pears", "Fill the jars"} {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %q is lost: %s", name, text, got)
			}
		}
	}
}

// TestCoreOfAShortArticle: where the trees are sure of one of two paragraphs, the other one is of the article, too.
func TestCoreOfAShortArticle(t *testing.T) {
	root, err := html.Parse(strings.NewReader(newsHead + siteHead + `<main><article><h1>The book of the harbour</h1><div class=text>` + prose + `</div></article></main>` + siteFoot))
	if err != nil {
		t.Fatal(err)
	}
	d := desks.Get().(*desk)
	defer d.leave()
	f := newFinder(root, d)
	scores := make([]float32, len(f.blocks))
	for n, i := range f.page.prose {
		scores[i] = []float32{0.8, 0.6, 0.65, 0.55, 0.6}[n]
	}
	if core, last := f.core(scores), f.page.prose[len(f.page.prose)-1]; core == nil || core.to <= last {
		t.Errorf("the last paragraph is without: %+v", core)
	}
}

// TestTitleIsTheHeadline: a page declares the name of the recipe that it ends with; its title is the line above the story.
func TestTitleIsTheHeadline(t *testing.T) {
	const says = `<head><title>Jam</title><script type="application/ld+json">{"@type":"Recipe","name":"Pear jam with cinnamon"}</script></head><body>`
	for name, c := range map[string]struct{ h1, want string }{
		"more than the name": {"The best pear jam with cinnamon of the whole coast", "The best pear jam with cinnamon of the whole coast"},
		"another one":        {"Autumn on the coast", "Pear jam with cinnamon"},
	} {
		root, err := html.Parse(strings.NewReader(says + siteHead + "<main><h1>" + c.h1 + "</h1>" + prose + "<section><h2>Pear jam with cinnamon</h2>" + story + "</section></main>" + siteFoot))
		if err != nil {
			t.Fatal(err)
		}
		d := desks.Get().(*desk)
		f := newFinder(root, d)
		if got := strings.TrimSpace(f.words(&f.blocks[f.page.h1])); got != c.want || !f.page.surely {
			t.Errorf("%s: %q, surely %v", name, got, f.page.surely)
		}
		d.leave()
	}
}

// TestStandfirst: what an article says of itself below its title is a part of it where the page describes itself so.
func TestStandfirst(t *testing.T) {
	const first = "Four hundred years of ships stand in one book. Now it is to be taken apart, leaf by leaf, and put together again."
	root, err := html.Parse(strings.NewReader(`<head><title>The book of the harbour</title><meta property="og:type" content="article"><meta name=description content="` + first + `"></head><body>` +
		siteHead + `<main><article><h1>The book of the harbour</h1><div class=byline>Ann Quay</div><div class=teaser>` + first + `</div><p>(Photo: the press)</p>` + prose + `</article></main>` + siteFoot))
	if err != nil {
		t.Fatal(err)
	}
	d := desks.Get().(*desk)
	defer d.leave()
	f := newFinder(root, d)
	scores := make([]float32, len(f.blocks))
	for i := range scores {
		scores[i] = 0.2
	}
	for _, i := range f.page.prose {
		if !strings.Contains(f.words(&f.blocks[i]), "Four hundred years of ships") {
			scores[i] = 0.9
		}
	}
	f.ruleStandfirst(scores)
	for i, s := range scores {
		switch text := f.words(&f.blocks[i]); {
		case strings.Contains(text, "Four hundred years of ships") && s < 0.5:
			t.Errorf("it is left out: %.2f", s)
		case (strings.Contains(text, "Ann Quay") || strings.Contains(text, "Photo")) && s >= 0.5:
			t.Errorf("%q is kept", text)
		}
	}
}
