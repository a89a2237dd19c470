package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/workflow/markup"
)

const page = `<!doctype html><title>Shop</title>
<form id=login action="/in"><input type=hidden name=csrf value="t0k"><input name=user></form>
<ul class="list wide"><li class=item><a href="/1">One</a>  more<li class=item><a href="/2">T<b>w</b>o</a></ul>
<script>var x = "<a href='/no'>"</script><p>last`

func TestSelect(t *testing.T) {
	tests := []struct{ css, want string }{
		{"title", "title:Shop"},
		{"input[name=csrf]", "input(type=hidden name=csrf value=t0k):"},
		{"ul.list > li.item a", "a(href=/1):One a(href=/2):Two"},
		{"li:nth-child(2) a[href^='/']", "a(href=/2):Two"},
		{"li:has(b)", "li(class=item):Two"},
		{"li", "li(class=item):One more li(class=item):Two"},
		{"form + ul, p", "ul(class=list wide):One moreTwo p:last"},
		{"a[href='/no']", ""},
		{"script", "script:var x = \"<a href='/no'>\""},
		{"li ~ li", "li(class=item):Two"},
	}
	for _, test := range tests {
		p, err := markup.ParsePage(page)
		if err != nil {
			t.Fatal(err)
		}
		s, err := markup.ParseSelector(test.css)
		if err != nil {
			t.Fatal(test.css, err)
		}
		got, err := p.Select(s, 100)
		if err != nil {
			t.Fatal(test.css, err)
		}
		if diff := cmp.Diff(test.want, written(got)); diff != "" {
			t.Error(test.css, diff)
		}
	}
}

func written(all []markup.Element) string {
	out := make([]string, len(all))
	for i, e := range all {
		var attrs []string
		for _, a := range e.Attrs {
			attrs = append(attrs, a.Name+"="+a.Value)
		}
		if out[i] = e.Name; attrs != nil {
			out[i] += "(" + strings.Join(attrs, " ") + ")"
		}
		out[i] += ":" + e.Text
	}
	return strings.Join(out, " ")
}

// Selectors that would take almost unbounded time are rejected before they run; those of real
// users are not.
func TestSelectIsBounded(t *testing.T) {
	flat := strings.Repeat("<hr>", 50_000)
	deep := strings.Repeat("<div>", 400) + strings.Repeat("<b>x</b>", 2000)
	table := strings.Repeat("<table><tbody>"+strings.Repeat("<tr><td><span class=x><a href=/>x</a></span></td></tr>", 50)+"</tbody></table>", 40)
	tests := []struct {
		name, text, css string
		refused         bool
	}{
		{"siblings of siblings", flat, "p ~ hr ~ hr ~ hr", true},
		{"positions among many", flat, "hr:nth-last-child(3n+1)", true},
		{"below the deep", deep, "p div div div div b", true},
		{"below all", deep, ":has(p)", false},
		{"a table's cells", table, "table tbody tr td span.x a", false},
		{"a table's rows", table, "table tr:nth-child(2) td a", false},
		{"by attribute", flat, "hr[title='~ ~ ~']", false},
	}
	for _, test := range tests {
		p, err := markup.ParsePage(test.text)
		if err != nil {
			t.Fatal(test.name, err)
		}
		s, err := markup.ParseSelector(test.css)
		if err != nil {
			t.Fatal(test.name, err)
		}
		if _, err = p.Select(s, 1<<20); (err != nil) != test.refused {
			t.Errorf("%s: refused %v, want %v: %v", test.name, err != nil, test.refused, err)
		}
	}
	if _, err := markup.ParsePage(strings.Repeat("<a>", 300_000)); err == nil {
		t.Error("a page of 300,000 tags is read")
	}
	for _, css := range []string{"", "a[", "a:has(b:has(c))", strings.Repeat("a", 2000), strings.Repeat(":not(", 20) + "a" + strings.Repeat(")", 20)} {
		if _, err := markup.ParseSelector(css); err == nil {
			t.Errorf("the selector %.20q is read", css)
		}
	}
}

const feed = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="urn:x"><title>News &amp; more</title>
 <entry id="1"><title>One</title><x:n>1</x:n><part><part id="in"/></part></entry>
 <entry id="2"><title>Two</title><link href="/2" rel='alternate'/></entry>
</feed>`

func TestFind(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/feed/title", "title:News & more"},
		{"feed/entry/@id", "1|2"},
		{"//title/text()", "News & more|One|Two"},
		{"/feed/entry[2]/title", "title:Two"},
		{"//entry[@id='2']/link/@href", "/2"},
		{"//entry[title=\"One\"]/@id", "1"},
		{"//entry[link]/title/text()", "Two"},
		{"//part", "part: part(id=in):"},
		{"//part//@id", "in"},
		{"/feed/*[1]", "title:News & more"},
		{"//x:n", "n:1"},
		{"/nothing", ""},
		{"//entry[contains(title, 'w')]/@id", "2"},
		{"count(//entry)", "2"},
		{"string(//entry[last()]/title)", "Two"},
		{"//entry[position() = 1]/following-sibling::entry/@id", "2"},
		{"//link/@rel | //entry/@id", "1|2|alternate"},
		{"//entry[not(link) and x:n = 1]/title", "title:One"},
		{"number(//x:n) + 2 * 3 - 1", "6"},
	}
	for _, test := range tests {
		d, err := markup.ParseDocument(feed)
		if err != nil {
			t.Fatal(err)
		}
		p, err := markup.ParsePath(test.path)
		if err != nil {
			t.Fatal(test.path, err)
		}
		found, err := d.Find(p, 100)
		if err != nil {
			t.Fatal(test.path, err)
		}
		got := written(found.Elements)
		if found.IsText {
			got = strings.Join(found.Texts, "|")
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(test.path, diff)
		}
	}
	for _, path := range []string{"", "/a[", "a b", "///a", "/a[b]c", "'a' 'b'", "//a[matches(., 'x')]", "replace(., 'a', 'bb')", "//a['", "count(//a", strings.Repeat("/a", 600)} {
		if _, err := markup.ParsePath(path); err == nil {
			t.Errorf("the path %q is read", path)
		}
	}
	for _, text := range []string{"", "<a>", "<a></b>", "</a>", "text", "<a>&x;</a>", strings.Repeat("<a>", 300), "<?xml version='1.0' encoding='latin1'?><a/>"} {
		if _, err := markup.ParseDocument(text); err == nil {
			t.Errorf("the document %.20q is read", text)
		}
	}
}

func FuzzSelect(f *testing.F) {
	f.Add(page, "ul.list > li.item a")
	f.Add(page, "li:nth-child(2n+1):not(.x)")
	f.Add("<p><table><svg><a></p>", "svg a ~ *, :has(:empty)")
	f.Fuzz(func(t *testing.T, text, css string) {
		s, err := markup.ParseSelector(css)
		if err != nil {
			return
		}
		p, err := markup.ParsePage(text)
		if err != nil {
			return
		}
		if got, err := p.Select(s, 10); err == nil && len(got) > 10 {
			t.Fatal(len(got))
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add(feed, "//entry[@id='2']/link/@href")
	f.Add("<a><a><b/></a></a>", "//a//b[1]")
	f.Fuzz(func(t *testing.T, text, path string) {
		p, err := markup.ParsePath(path)
		if err != nil {
			return
		}
		d, err := markup.ParseDocument(text)
		if err != nil {
			return
		}
		first, err := d.Find(p, 10)
		if err != nil {
			return
		}
		if again, _ := d.Find(p, 10); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Fatalf("found %v, then %v", first, again)
		}
	})
}
