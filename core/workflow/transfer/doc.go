// Package transfer has the words of files on servers: sftp.client, sftp.get and its kin, scp.get and scp.put, and
// the same below vu.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them.
//
// Source: docs/workflows.md; draft-ietf-secsh-filexfer-02.
//
// Invariants:
//
//	TRANSFER-1 A client without host_keys is an error when the file loads: a server that nothing identifies
//	           has to be asked for by "any".
//	TRANSFER-2 What proves a user is a text or a secret, and no value of an iteration: a connection serves all
//	           iterations of its user.
//
// Example:
//
//	h = sftp.client("sftp://app@h", key = secret("id"), host_keys = file("known_hosts"))
//	step("get", sftp.get(h, "/data/${name}"))
//
// Read sftp.go, client.go.
package transfer
