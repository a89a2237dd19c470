module github.com/pkg/sftp

go 1.26.0
