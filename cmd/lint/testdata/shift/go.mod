module hyperscale

go 1.26.0
