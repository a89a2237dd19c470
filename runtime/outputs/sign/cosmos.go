package sign

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
)

// Cosmos is the head Authorization of a request to Azure Cosmos DB, signed by the account's key, which is text of base64.
// The kind of resource is that of the last part of the path ("docs"), the link its parent's path without a slash before
// it ("dbs/D/colls/C"), or its own where the request names it. The date is the head x-ms-date.
func Cosmos(key, method, kind, link, date string) (string, error) {
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(secret) == 0 {
		return "", errors.New("the key is no base64: copy the primary or secondary key of the account whole")
	}
	text := strings.ToLower(method) + "\n" + strings.ToLower(kind) + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac(secret, text))), nil
}
