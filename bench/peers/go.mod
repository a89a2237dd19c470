module hyperscale/bench/peers

go 1.26.0

require (
	golang.org/x/net v0.57.0
	golang.org/x/sys v0.49.0
)

require golang.org/x/text v0.40.0 // indirect
