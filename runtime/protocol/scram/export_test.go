package scram

// SaltedOf returns the salted password of an authentication.
func SaltedOf(c *Client) []byte { return c.salted.sum }
