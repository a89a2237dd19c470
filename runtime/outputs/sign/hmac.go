package sign

import "encoding/hex"

// Webhook is the signature of a body at a time: HMAC-SHA256 of "SECONDS.BODY", in hexadecimal. The time is in the text,
// so that a receiver can reject a body that it has seen long ago.
func Webhook(key string, seconds string, body []byte) string {
	return hex.EncodeToString(mac([]byte(key), seconds+"."+string(body)))
}
