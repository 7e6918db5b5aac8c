i;
