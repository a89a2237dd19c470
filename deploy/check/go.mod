module hyperscale/deploy/check

go 1.26.0
