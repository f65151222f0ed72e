"""A k-way table on a flat screen: layout, frozen headers and margins, cells."""
