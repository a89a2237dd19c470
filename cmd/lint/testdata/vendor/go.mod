module hyperscale

go 1.26.0

require github.com/pkg/sftp v1.0.0

replace github.com/pkg/sftp => ./testdata/sftp
