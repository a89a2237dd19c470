package hostile

import (
	"slices"
	"strconv"
	"strings"
)

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(
		heads(), lengths(), chunked(), statuses(), connections(), idles(), bodies(), requests(),
		redirects(), addresses(), handshakes(), records(), corners(), cornersRedirects(),
	)
}

// answers is the commonest entry: a text, and what is done after it.
func answers(name, text string, then Act, want Want) Entry {
	return Entry{Name: name, Server: Behaviour{Answer: text, Then: then}, Want: want}
}

// flood is an answer and a text that follows it again and again. Kept is what a client
// concludes that keeps bodies, if that differs.
func flood(name, answer, text string, want Want, kept *Want) Entry {
	e := answers(name, answer, floods(text), want)
	e.Flood, e.Kept = true, kept
	return e
}

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	empty   = "Content-Length: 0\r\n\r\n"
	four    = "Content-Length: 4\r\n\r\n"
	coded   = "Transfer-Encoding: chunked\r\n\r\n"
	noChunk = "0\r\n\r\n"
)

func many(text string, n int) string { return strings.Repeat(text, n) }

// sized is a response with a Content-Length.
func sized(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}
