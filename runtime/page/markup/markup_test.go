package markup

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// named is a text by another name.
type named string

// TestTextStaysText: whatever a text is, a browser reads that text, in an attribute and between two tags, and no
// element more.
func TestTextStaysText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{"<", ">", `"`, "'", "&", "&lt;", "</b>", "<!--", "<script>", "%s", "+"}), rapid.StringMatching(`[a-z é]{0,5}`)))
		text := strings.Join(pieces.Draw(t, "pieces"), "")
		arg := rapid.SampledFrom([]any{text, []byte(text), named(text)}).Draw(t, "arg")
		var w, inner Writer
		inner.Put(`<b title="%s">%s</b>`, arg, arg)
		w.Put("<p>%s</p>", inner.HTML())
		doc, err := html.Parse(strings.NewReader(string(w.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		var elements []string
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			elements = append(elements, n.Data)
			if n.Data == "b" && (len(n.Attr) != 1 || n.Attr[0].Val != text || n.FirstChild != nil && (n.FirstChild.Data != text || n.FirstChild.NextSibling != nil)) {
				t.Fatalf("%q reads as %+v and %+v", text, n.Attr, n.FirstChild)
			}
		}
		if got := strings.Join(elements, " "); got != "html head body p b" {
			t.Fatalf("%q makes elements %s: %s", text, got, w.Bytes())
		}
	})
}

// TestNumbersAndOwnFiles: numbers keep their verbs, and Embed writes what it gets.
func TestNumbersAndOwnFiles(t *testing.T) {
	var w Writer
	w.Put(`<i x="%.1f%%" y="%d" z="%d"/>`, 1.25, -3, uint64(7))
	w.Embed("a < b")
	if want := `<i x="1.2%" y="-3" z="7"/>a < b`; string(w.Bytes()) != want || w.Len() != len(want) {
		t.Errorf("got %q, want %q", w.Bytes(), want)
	}
}
