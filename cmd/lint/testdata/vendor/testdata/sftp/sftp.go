// Package sftp stands for a library.
package sftp
