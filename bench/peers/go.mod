module hyperscale/bench/peers

go 1.26.0

require (
	golang.org/x/net v0.61.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/gobwas/httphead v0.1.0 // indirect
	github.com/gobwas/pool v0.2.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/text v0.43.0 // indirect
)

require (
	github.com/coder/websocket v1.8.15
	github.com/gobwas/ws v1.4.0
	hyperscale v0.0.0
)

replace hyperscale => ../..
