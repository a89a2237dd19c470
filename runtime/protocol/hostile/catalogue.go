package hostile

import "slices"

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(
		heads(), lengths(), chunked(), statuses(), connections(), idles(), bodies(), requests(),
		redirects(), addresses(), handshakes(), records(), corners(), cornersRedirects(),
	)
}

// HTTP2 returns the catalogue of HTTP/2.
func HTTP2() []HTTP2Entry {
	return slices.Concat(odd2(), prefaces(), endings(), resets(), goaways(), uploads(), windows(), floods2(), heads2(), lengths2(), blocks(), misframed(), secure2(), corners2())
}
