module hyperscale/bench/peers

go 1.26.0

require (
	golang.org/x/net v0.61.0
	golang.org/x/sys v0.49.0
)

require golang.org/x/text v0.43.0 // indirect

require hyperscale v0.0.0

replace hyperscale => ../..
