// Package transfer has the words of files on servers: ftp.client, ftp.get and its kin, sftp.client, sftp.get and its kin, scp.get and scp.put, and
// the same below vu.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them.
//
// Source: docs/workflows.md; draft-ietf-secsh-filexfer-02; RFC 959, 4217.
//
// Invariants:
//
//	TRANSFER-1 A client without host_keys is an error when the file loads: a server that nothing identifies
//	           has to be asked for by "any".
//	TRANSFER-2 What proves a user is a text or a secret, and no value of an iteration: a connection serves all
//	           iterations of its user.
//
//	TRANSFER-3 A client of FTP sends a password in clear only if the file says so.
//
// Example:
//
//	h = sftp.client("sftp://app@h", key = secret("id"), host_keys = file("known_hosts"))
//	step("get", sftp.get(h, "/data/${name}"))
//
// Read sftp.go, client.go, ftp.go.
package transfer
