package node

type ID string
